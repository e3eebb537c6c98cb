/** Tables say which test shows what; here it is read from the test files whether those tests are there. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface NamedTest {
  /** Below test/. */
  file: string;
  /** As it stands in the file: a test that runs, or a story of never-twice. */
  name: string;
}

export const named = (file: string, ...names: string[]): NamedTest[] => names.map((name) => ({ file, name }));

/** Those that no test file has, or that are left out (`test.skip`). */
export function missing(tests: readonly NamedTest[]): string[] {
  return tests.filter((each) => !isThere(each)).map(({ file, name }) => `${file}: ${name}`);
}

function isThere({ file, name }: NamedTest): boolean {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  if (!existsSync(path)) return false;
  const title = JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // A story's name is a field of it, and every story is played.
  const opens = file.startsWith("never-twice/") ? "\\bname:" : "\\b(?:test|it)\\(";
  return new RegExp(`${opens}\\s*${title}`).test(readFileSync(path, "utf8"));
}
