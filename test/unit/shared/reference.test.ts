/** The pages of docs/reference that name what code declares have all of it. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** The names in backticks in the first cells of a page's tables. */
const namedIn = (path: string): Set<string> =>
  new Set(
    [...read(path).matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
    ),
  );

/** The members of an interface, by its text. */
function membersOf(path: string, name: string): string[] {
  const [, body = ""] =
    new RegExp(`export interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(read(path)) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, member = ""]) => member);
}

test("docs/reference/answers.md has every field and status of an answer", () => {
  const fields = [
    ...membersOf("src/shared/operation/answer.ts", "Answer"),
    ...membersOf("src/shared/results/preview.ts", "CachedForm"),
    ...membersOf("src/shared/results/preview.ts", "PartialForm"),
  ];
  const [, statuses = ""] =
    /export type Status = ([^;]+);/.exec(read("src/shared/operation/answer.ts")) ?? [];
  const declared = [...fields, ...[...statuses.matchAll(/"(\w+)"/g)].map(([, status = ""]) => status)];
  expect(declared.length).toBeGreaterThan(35);
  expect([...namedIn("docs/reference/answers.md")].sort()).toEqual([...new Set(declared)].sort());
});

test("docs/reference/errors.md has every diagnosis", () => {
  const [, codes = ""] =
    /export type DiagnosisCode =([^;]+);/.exec(read("src/shared/editors/diagnosis.ts")) ?? [];
  const declared = [...codes.matchAll(/"(\w+)"/g)].map(([, code = ""]) => code);
  expect(declared.length).toBeGreaterThan(10);
  const [, table = ""] = read("docs/reference/errors.md").split("## Diagnoses");
  const named = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, code = ""]) => code);
  expect(named.sort()).toEqual(declared.sort());
});
