/**
 * Every ▲ rule has a patch that takes it out and a schedule that goes red by it. The whole sweep is `npm run mutations`
 * (docs/proofs/mutations.md); here every patch is tried on.
 */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { applyPatch, PROJECT, patchFiles, wordsOf } from "./mutations/copy.js";
import { MUTATIONS, ruleOf } from "./mutations/mutations.js";
import { SCHEDULES } from "./mutations/schedules.js";

describe("mutations", () => {
  it.each(patchFiles())("%s applies, and says what it takes out", (patch) => {
    applyPatch(patch, PROJECT, { check: true });
    expect(wordsOf(patch)).not.toBe("");
  });

  it("every patch is used, and every one that is used is there", () => {
    const used = new Set(MUTATIONS.flatMap(({ patch, beneath }) => [patch, ...beneath]));
    expect([...used].sort()).toEqual(patchFiles());
  });

  it("every rule of the architecture has a patch", () => {
    const architecture = readFileSync(`${PROJECT}/ARCHITECTURE.md`, "utf8");
    const [, table = ""] = architecture.split("## The rules");
    const rules = new Set([...table.matchAll(/▲\d+/g)].map(([rule]) => rule));
    expect(rules.size).toBeGreaterThanOrEqual(15);
    const covered = new Set(MUTATIONS.map(ruleOf));
    expect([...rules].filter((rule) => !covered.has(rule))).toEqual([]);
  });

  it("every schedule that is named is there, and has a name of its own", () => {
    const names = SCHEDULES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const named = MUTATIONS.flatMap(({ aim }) => ("schedule" in aim ? [aim.schedule] : []));
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
  });
});
