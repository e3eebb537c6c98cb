import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const PROJECT = new URL("../../", import.meta.url);

interface Row {
  rule: string;
  name: string;
  says: string;
  where: string[];
  tests: string[];
}

/** The table of "The rules, and where each is implemented". */
function rulesOf(architecture: string): Row[] {
  const [, section = ""] = architecture.split("## The rules, and where each is implemented");
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(1).map((line) => {
    const [rule = "", name = "", says = "", where = "", tests = ""] = line
      .slice(1)
      .split("|")
      .map((cell) => cell.trim());
    return { rule, name, says, where: where.match(/src\/[\w/.-]+\.ts/g) ?? [], tests: pathsOfTests(tests) };
  });
}

function pathsOfTests(cell: string): string[] {
  return cell.match(/test\/[\w/.-]+\.test\.ts/g) ?? [];
}

const rules = rulesOf(readFileSync(new URL("ARCHITECTURE.md", PROJECT), "utf8"));

test("every rule has a name and a sentence, and its files and tests exist", () => {
  const numbers = new Set(rules.map(({ rule }) => rule.match(/▲\d+/)?.[0]).filter(Boolean));
  expect(numbers.size).toBe(15);
  const files = rules.flatMap(({ where, tests }) => [...where, ...tests]);
  expect(files.filter((file) => !existsSync(new URL(file, PROJECT)))).toEqual([]);
  const bare = rules.filter(({ rule, name, says, where, tests }) => {
    const isHeading = rule === "▲10";
    return (
      name === "" ||
      (says === "") !== (rule === "") ||
      tests.length === 0 ||
      (where.length === 0 && !isHeading)
    );
  });
  expect(bare).toEqual([]);
});
