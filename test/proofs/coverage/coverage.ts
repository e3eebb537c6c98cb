/** The tables of docs/proofs/coverage.md, and what is wrong with them. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { markdownTable } from "../engine/report.js";
import { wordsOf } from "../mutations/copy.js";
import { MUTATIONS } from "../mutations/mutations.js";
import { CELLS, SCHEDULES } from "./master.js";

export interface NamedTest {
  /** Below test/; undefined: nothing is there yet, and the title says why. */
  file: string | undefined;
  /** As it stands in the file: a test that runs, or a story of never-twice; of a rule's, a part of it. */
  title: string;
  isPart: boolean;
}

export interface Covered {
  what: string;
  tests: NamedTest[];
}

/** What is not built has no test. */
const UNBUILT = "comes with pools";

function covered(text: string): Covered[] {
  const all: Covered[] = [];
  for (const line of text.trim().split("\n")) {
    const title = line.trim();
    const [, file, name] = /^(\S+\.ts): (.*)$/.exec(title) ?? [];
    if (!line.startsWith(" ")) all.push({ what: line, tests: [] });
    else all.at(-1)?.tests.push({ file, title: name ?? title, isPart: false });
  }
  return all;
}

export const schedules = covered(SCHEDULES);
export const cells = covered(CELLS);
/** The sentences of rules that one test covers; those of the others have schedules (docs/proofs/mutations.md). */
export const rules: Covered[] = MUTATIONS.flatMap(({ patch, aim }) => {
  if ("schedule" in aim) return [];
  const [what = ""] = wordsOf(patch).split("\n");
  return [{ what, tests: [{ file: aim.file.replace(/^test\//, ""), title: aim.test, isPart: true }] }];
});

export function document(): string {
  const section = (head: string, all: readonly Covered[]): string => {
    const rows = all.flatMap(({ what, tests }) =>
      tests.map(({ file, title }) => [what, title, file === undefined ? "" : `test/${file}`]),
    );
    return `\n## ${head}\n${markdownTable(["what", "test", "file"], rows)}\n`;
  };
  return `# Which test shows what
Written by \`npm test -- test/proofs/coverage.test.ts -u\` from test/proofs/coverage/master.ts and
test/proofs/mutations/mutations.ts; the same test without \`-u\` checks that each of these tests is there.
${section("Schedules that ran something twice in an earlier draft", schedules)}${section("Cells of the recovery table", cells)}${section("Rules that one test turns red for", rules)}`;
}

/** Tests that no file has, or that are left out (`test.skip`); what has none at all. */
export function missing(all: readonly Covered[]): string[] {
  return all.flatMap(({ what, tests }) => [
    ...(tests.length === 0 ? [`${what}: no test`] : []),
    ...tests.filter((test) => !isThere(test)).map(({ file, title }) => `${file}: ${title}`),
  ]);
}

function isThere({ file, title, isPart }: NamedTest): boolean {
  if (file === undefined) return title === UNBUILT;
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  if (!existsSync(path)) return false;
  const text = readFileSync(path, "utf8");
  if (isPart) return text.includes(title);
  const literal = JSON.stringify(title).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // A story's name is a field of it, and every story is played.
  const opens = file.startsWith("proofs/never-twice/") ? "\\bname:" : "\\b(?:test|it)\\(";
  return new RegExp(`${opens}\\s*${literal}`).test(text);
}
