import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createReadOutcomes, type TypedCall } from "../../../src/cli/client/read-outcomes.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-outcomes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const build: TypedCall = {
  place: "store",
  token: undefined,
  tool: "build-player",
  editor: undefined,
  arguments: { target: "Android", clean: true },
};

test("the newest outcome of the same call is known, in whatever order its arguments are typed", async () => {
  const outcomes = createReadOutcomes(folder);
  expect(await outcomes.of(build)).toBeUndefined();
  await outcomes.printed(build, "op1");
  await outcomes.printed(build, "op2");
  expect(
    await createReadOutcomes(folder).of({ ...build, arguments: { clean: true, target: "Android" } }),
  ).toBe("op2");
});

test.each([
  { place: "elsewhere" },
  { token: "another" },
  { tool: "run-tests" },
  { editor: "shop@1" },
  { arguments: { target: "iOS", clean: true } },
])("with %j it is another call", async (change) => {
  const outcomes = createReadOutcomes(folder);
  await outcomes.printed(build, "op1");
  expect(await outcomes.of({ ...build, ...change })).toBeUndefined();
});

test("after a day it is forgotten, and its file with the next outcome", async () => {
  const outcomes = createReadOutcomes(folder);
  await outcomes.printed(build, "op1");
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), yesterday, yesterday);
  expect(await outcomes.of(build)).toBeUndefined();
  const tests = { ...build, tool: "run-tests" };
  await outcomes.printed(tests, "op2");
  expect(await outcomes.of(tests)).toBe("op2");
  expect(readdirSync(folder)).toHaveLength(1);
});
