/** The gateway that a client waits at is killed: the client goes on at another one, in real processes. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answerIn } from "../../harness/mcp/answer-in.js";
import { openEventStream } from "../../harness/mcp/event-stream.js";
import { INITIALIZE, post, reported, toolCall } from "../../harness/mcp/mcp.js";
import { answerTo, askTool } from "../../harness/mcp/stateless.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

const ITEM = "Simulator/Block For 2 Seconds";
const REVISION = "2025-11-25";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const begun = () => until("it has begun", async () => (await world.editor.executions(ITEM)).length > 0);

test("a stream that is taken up there has the answer of the request, once, and the tool ran once", async () => {
  const second = await world.secondGateway();
  const params = { ...INITIALIZE.params, protocolVersion: REVISION };
  const session = (await post(world.url(), { ...INITIALIZE, params })).sessionId ?? "";
  const headers = { "mcp-session-id": session, "mcp-protocol-version": REVISION };
  const call = toolCall(1, "execute-menu-item", { MenuItemPath: ITEM, timeout: 30 });
  const stream = await openEventStream(world.url(), headers, call);
  await stream.next(() => stream.events.length === 2);
  await begun();
  await world.gateway.kill();
  expect(await stream.ended).toBe(false);
  const last = stream.events.at(-1)?.id ?? "";
  const resumed = await openEventStream(second.url(), { ...headers, "last-event-id": last });
  expect(await resumed.ended).toBe(true);
  const answers = resumed.events.flatMap(({ message }) => (message ? [message] : []));
  expect(answers.map(({ id }) => id)).toEqual([1]);
  expect(reported(answers[0])).toMatchObject({ status: "completed" });
  expect(reported(answers[0])).not.toHaveProperty("deduplicated");
  expect(await world.editor.executions(ITEM)).toHaveLength(1);
});

test("a real client that waits hears nothing of it: its call is answered", async () => {
  const second = await world.secondGateway();
  let url = world.url();
  // As behind a proxy: one address, whichever gateway is there.
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: (_address, init) => fetch(url, init),
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const args = { MenuItemPath: ITEM, timeout: 30 };
  const answer = client.callTool({ name: "execute-menu-item", arguments: args });
  await begun();
  url = second.url();
  await world.gateway.kill();
  expect(answerIn(await answer)).toMatchObject({ status: "completed" });
  expect(await world.editor.executions(ITEM)).toHaveLength(1);
  await client.close();
});

test("a request without a session, sent again there under another id, finds its operation", async () => {
  const second = await world.secondGateway();
  const args = { MenuItemPath: ITEM, timeout: 30 };
  const lost = askTool(world.url(), "execute-menu-item", args).then(
    () => "answered",
    () => "lost",
  );
  await begun();
  await world.gateway.kill();
  expect(await lost).toBe("lost");
  const again = await answerTo(second.url(), "execute-menu-item", args, { id: 2 });
  expect(again).toMatchObject({ status: "completed", deduplicated: true });
  expect(await world.editor.executions(ITEM)).toHaveLength(1);
});

test("the session goes on there by its id, and reads the result of the call whose answer was lost", async () => {
  const second = await world.secondGateway();
  const session = (await post(world.url(), INITIALIZE)).sessionId ?? "";
  const call = toolCall(1, "execute-menu-item", { MenuItemPath: ITEM, timeout: 30 });
  const lost = post(world.url(), call, { session }).then(
    () => "answered",
    () => "lost",
  );
  await begun();
  await world.gateway.kill();
  expect(await lost).toBe("lost");
  const listed = await post(second.url(), toolCall(2, "list_operations"), { session });
  const { operations } = reported(listed.messages.at(-1)) as unknown as { operations: { log_id: string }[] };
  const wanted = { log_id: operations[0]?.log_id, wait: true, timeout: 30 };
  const read = await post(second.url(), toolCall(3, "get_operation_result", wanted), { session });
  expect(reported(read.messages.at(-1))).toMatchObject({ status: "completed", result: { Success: true } });
  expect(await world.editor.executions(ITEM)).toHaveLength(1);
});
