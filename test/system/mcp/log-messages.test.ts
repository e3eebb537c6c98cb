/** What the Console says while a call waits, as log messages to a client that named a level: each once, and only news. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { eventually, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

const work = (Name: string, timeout = 30, more = {}) => ({
  name: "work",
  arguments: { Name, Hold: true, timeout, ...more },
});

/** What it is told from now on, as `level: text`. */
function heardBy(client: Client): string[] {
  const heard: string[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(`${params.level}: ${params.data}`);
  });
  return heard;
}

async function stage() {
  const gateway = await open();
  const tokens = new Map<string, Promise<string>>();
  /** A further session of this principal. */
  const enter = async (name: string) => {
    const token = tokens.get(name) ?? gateway.tokens.create(name);
    tokens.set(name, token);
    const client = await gateway.connect(await token);
    return { client, heard: heardBy(client) };
  };
  return { ...gateway.system, enter };
}

test("a client that named a level hears the lines of its call from there on, before the answer", async () => {
  const { bench, editor, enter } = await stage();
  const { client, heard } = await enter("ann");
  await client.setLoggingLevel("warning");
  const called = client.callTool(work("a"));
  await bench.begins("a");
  editor.log("Log", "too quiet");
  editor.log("Warning", "first");
  await eventually(() => heard.length === 1, "the line is told while the call waits");
  editor.log("Error", "last");
  bench.finish("a");
  expect((await called).structuredContent).toMatchObject({ status: "completed" });
  expect(heard).toEqual(["warning: first", "error: last"]);
});

test("a later wait goes on where the call's own wait ended, and a replay tells nothing of an old run", async () => {
  const { bench, editor, enter } = await stage();
  const { client, heard } = await enter("ann");
  await client.setLoggingLevel("debug");
  const called = client.callTool(work("a", 1, { idempotency_key: "a" }));
  await bench.begins("a");
  editor.log("Log", "one");
  const { log_id } = (await called).structuredContent as { log_id: string };
  const read = client.callTool({
    name: "get_operation_result",
    arguments: { log_id, wait: true, timeout: 30 },
  });
  editor.log("Log", "two");
  bench.finish("a");
  await read;
  expect(heard).toEqual(["info: one", "info: two"]);

  const { client: other, heard: heardByOther } = await enter("ann");
  await other.setLoggingLevel("debug");
  const replayed = await other.callTool(work("a", 30, { idempotency_key: "a" }));
  expect(replayed.structuredContent).toMatchObject({ deduplicated: true });
  expect(heardByOther).toEqual([]);
});

test("a client that named none hears nothing", async () => {
  const { bench, editor, enter } = await stage();
  const [ann, ben] = [await enter("ann"), await enter("ben")];
  await ben.client.setLoggingLevel("debug");
  const called = ann.client.callTool(work("a"));
  await bench.begins("a");
  editor.log("Error", "said");
  const beside = ben.client.callTool(work("b"));
  bench.finish("a");
  await called;
  await bench.begins("b");
  bench.finish("b");
  await beside;
  expect([ann.heard, ben.heard]).toEqual([[], []]);
});
