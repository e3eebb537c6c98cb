/** `npm run load` is the long form; docs/proofs/load.md says what is checked. Here only what is counted. */
import { afterAll, expect, test } from "vitest";
import { createClosers } from "./bench/closers.js";
import { wrongCounts } from "./load/judge.js";
import { runLoad } from "./load/load.js";

const closers = createClosers();
afterAll(() => closers.closeAll());

test("calls of many sessions on ten Editors: as many executions as calls, each once, with its own answer", async () => {
  const options = { editors: 10, sessions: 20, perSecond: 40, seconds: 3, idleSeconds: 0.2 };
  const report = await runLoad(closers, options, () => undefined);
  expect(report.counts.sent).toBe(120);
  expect(wrongCounts(report)).toEqual([]);
});
