/** The list of proofs is what can be run, and its document says what the list says. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DOCUMENT, readRuns, writeRuns } from "./proof-runs.js";
import { PROOFS } from "./proofs.js";

const document = readFileSync(DOCUMENT, "utf8");
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

test.each(PROOFS)("$name: what its command names is there", ({ command }) => {
  const script = /npm run (\S+)/.exec(command)?.[1];
  if (script) expect(scripts).toHaveProperty(script);
  for (const [path] of command.matchAll(/\S+\/\S+/g)) expect(existsSync(path), path).toBe(true);
});

test("docs/proofs/README.md has them all, with when each last ran", () => {
  expect(writeRuns(document, readRuns(document))).toBe(document);
});

test("a run is written into its row, and read again", () => {
  const run = { date: "2026-01-02", commit: "abcdef0", result: "clean", minutes: 12 };
  const [first] = PROOFS;
  const name = first?.name ?? "";
  const written = writeRuns(document, { ...readRuns(document), [name]: run });
  expect(readRuns(written)).toEqual({ ...readRuns(document), [name]: run });
});
