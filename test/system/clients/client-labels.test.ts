/** What a client calls itself is shown with its operations, and nothing depends on it. */
import { expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, stdio } = useMcpCallers();

const WORK = { Name: "a", Hold: true, timeout: 0 };

test("an operation says which client made it and which repeated it; another name is the same call", async () => {
  const system = await start();
  const maker = await stdio(system.gateway, { info: { name: "claude-code", version: "1.0.3" } });
  const repeater = await http(system.gateway, { name: "cursor", version: "2.0" });
  const { log_id } = await maker.call("work", WORK);
  await system.bench.begins("a");
  expect(await repeater.call("work", WORK)).toMatchObject({ log_id, deduplicated: true });
  system.bench.finish("a");
  expect(await maker.call("get_operation_result", { log_id, wait: true })).not.toHaveProperty("client");

  const client = "claude-code 1.0.3";
  expect(await maker.call("get_operation_status", { log_id })).toMatchObject({ log_id, client });
  const listed = await repeater.call("list_operations");
  expect(listed).toMatchObject({ operations: [{ log_id, client }] });
  const explained = await repeater.call("explain_operation", { log_id });
  expect(explained.client).toBe(client);
  const details = (explained.timeline as { detail?: string }[]).map(({ detail }) => detail);
  expect(details).toContainEqual(expect.stringMatching(/^by HTTP session .*, named "cursor 2\.0"$/));
  expect(system.executions("a")).toBe(1);
});

test("a hostile name is cut, and its control characters are codes", async () => {
  const system = await start();
  const caller = await stdio(system.gateway, {
    info: { name: `\u001b]0;x\u0007${"n".repeat(9_000)}`, version: "1\n2" },
  });
  const { log_id } = await caller.call("work", { Name: "a" });
  const { createdBy } = await system.record(String(log_id));
  expect(createdBy.client).toMatch(/^\\u001b\]0;x\\u0007n+… 1\\n2$/);
  expect(createdBy.client?.length).toBeLessThanOrEqual(100);
});

test("a client that says no name is none the worse", async () => {
  const system = await start();
  const caller = await stdio(system.gateway, { info: { name: "", version: "" } });
  const { log_id } = await caller.call("work", { Name: "a" });
  expect((await system.record(String(log_id))).createdBy.client).toBe("unnamed client");
});
