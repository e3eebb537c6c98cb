import { existsSync, readdirSync, readFileSync } from "node:fs";
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

const architecture = readFileSync(new URL("ARCHITECTURE.md", PROJECT), "utf8");
const rules = rulesOf(architecture);

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

const filesBelow = (folder: string): string[] =>
  readdirSync(new URL(folder, PROJECT), { recursive: true, encoding: "utf8" }).map(
    (name) => `${folder}${name}`,
  );

test("every file that is named exists, and every file of the heart and of both halves is named", () => {
  const named = new Set(architecture.match(/[\w-]+(?:\.[\w-]+)*\.ts\b/g) ?? []);
  const existing = [...filesBelow("src/"), ...filesBelow("test/")].map(
    (path) => path.split("/").at(-1) ?? "",
  );
  expect([...named].filter((name) => !existing.includes(name))).toEqual([]);
  const told = ["src/shared/", "src/gateway/", "src/worker/", "src/documents/"].flatMap(filesBelow);
  const unnamed = told.filter((path) => path.endsWith(".ts") && !named.has(path.split("/").at(-1) ?? ""));
  expect(unnamed).toEqual([]);
});

test("every name in code that a table gives stands in one of the files beside it", () => {
  const missing = architecture.split("\n").flatMap((line) => {
    const files = line.startsWith("| ") ? (line.match(/src\/[\w/.-]+\.ts/g) ?? []) : [];
    if (files.length === 0) return [];
    const text = files.map((file) => readFileSync(new URL(file, PROJECT), "utf8")).join("\n");
    const names = [...line.matchAll(/`([a-zA-Z][a-zA-Z0-9]*)`/g)].map(([, name = ""]) => name);
    return names.filter((name) => !text.includes(name));
  });
  expect(missing).toEqual([]);
});

test("no signal is made of several: on Node 20 a collection of memory ends the time limit among them", () => {
  const files = filesBelow("src/").filter((path) => path.endsWith(".ts"));
  expect(
    files.filter((path) => readFileSync(new URL(path, PROJECT), "utf8").includes("AbortSignal.any")),
  ).toEqual([]);
});
