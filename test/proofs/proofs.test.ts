/** The list of proofs is what can be run, and its document says what the list says. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** `npm run model` is the long form of this one. */
const BY_ITS_COMMAND = ["test/proofs/model.test.ts"];

test("the long form of every test file that has one is played", () => {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).map((path) => join("test", path));
  const withLongForm = files.filter(
    (path) =>
      path.endsWith(".test.ts") && /isLongForm|TELLING_ENGINES|played\(/.test(readFileSync(path, "utf8")),
  );
  const commands = PROOFS.map(({ command }) => command).join(" ");
  const itself = join("test", "proofs", "proofs.test.ts");
  const unplayed = withLongForm.filter(
    (path) =>
      !commands.includes(path.replaceAll("\\", "/")) && path !== itself && !BY_ITS_COMMAND.includes(path),
  );
  expect(withLongForm.length).toBeGreaterThan(10);
  expect(unplayed).toEqual([]);
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
