/** ▲7 What was perhaps not read: the call again, of a mutating tool, is answered by the run that there was. */
import { expect, test } from "vitest";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, stdio } = useMcpCallers();

/** Every answer is a slow one. */
const SLOW = { gateway: { replay: { ...REPLAY_DEFAULTS, readWithinMs: 0 } } };
const WORK = { Name: "a" };

test("W17: over stdio, a slow answer, a ping, the call again: the client may have given up silently", async () => {
  const system = await start(SLOW);
  const { call, settle } = await stdio(system.gateway);
  const { log_id } = await call("work", WORK);
  await settle();
  await call("list_operations");
  expect(await call("work", WORK)).toMatchObject({ log_id, deduplicated: true });
  expect(system.executions("a")).toBe(1);
  await call("get_operation_status", { log_id });
  expect((await call("work", WORK)).log_id).not.toBe(log_id);
  expect(system.executions("a")).toBe(2);
});

test.each([
  { where: "HTTP", connect: http },
  { where: "stdio, where the answer was slow,", connect: stdio },
])("W19: over $where the poll that names the log_id is answered into nothing", async ({ connect }) => {
  const system = await start(SLOW);
  const { call, settle } = await connect(system.gateway);
  const { log_id = "" } = await call("work", { ...WORK, timeout: 0 });
  const read = (): Promise<Answer> => call("get_operation_result", { log_id, wait: true });
  expect(await read()).toMatchObject({ status: "completed" });
  await settle();
  expect(await call("work", WORK)).toMatchObject({ log_id, deduplicated: true });
  // A caller that names it once more has read it.
  await read();
  await settle();
  expect((await call("work", WORK)).log_id).not.toBe(log_id);
  expect(system.executions("a")).toBe(2);
});
