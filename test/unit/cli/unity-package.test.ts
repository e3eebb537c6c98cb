/** What the Unity package and the command line must have in common. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonText } from "../../../src/cli/clients/json-edits.js";

const root = join(import.meta.dirname, "../../..");

function read(...path: string[]): string {
  return readFileSync(join(root, ...path), "utf8");
}

interface Case {
  name: string;
  op: "set" | "remove";
  before: string;
  path: string[];
  value: unknown;
  after: string;
}

describe("the Unity package", () => {
  it("carries the repository's licence and version", () => {
    expect(read("unity-plugin", "LICENSE.md")).toBe(read("LICENSE"));
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(JSON.parse(read("unity-plugin", "package.json"))).toMatchObject({ version });
  });

  it("has the samples that it names", () => {
    const { samples } = JSON.parse(read("unity-plugin", "package.json")) as { samples: { path: string }[] };
    for (const { path } of samples) expect(existsSync(join(root, "unity-plugin", path)), path).toBe(true);
  });

  it("has no source over 500 lines", () => {
    const sources = readdirSync(join(root, "unity-plugin"), { recursive: true, encoding: "utf8" }).filter(
      (path) => path.endsWith(".cs") && !/(^|[\\/])(obj|bin)[\\/]/.test(path),
    );
    const long = sources.filter((path) => read("unity-plugin", path).split("\n").length > 501);
    expect(long).toEqual([]);
  });
});

describe("edits of clients' files", () => {
  const { cases } = JSON.parse(read("test", "golden", "client-config.json")) as { cases: Case[] };

  it.each(cases)("$name", ({ op, before, path, value, after }) => {
    expect(op === "set" ? jsonText.set(before, path, value) : jsonText.remove(before, path)).toBe(after);
  });
});
