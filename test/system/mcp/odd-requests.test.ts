/** Requests that are none, or of an odd form: each is answered, and none is an error of the gateway's. */
import { afterEach, expect, test } from "vitest";
import { openEventStream } from "../../harness/mcp/event-stream.js";
import { INITIALIZE, post } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { ask, statelessHeaders, statelessRequest } from "../../harness/mcp/stateless.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const warnings: string[] = [];
const warned = ({ message }: Error): void => void warnings.push(message);
process.on("warning", warned);
afterEach(() => void warnings.splice(0));

const REVISION = "2025-11-25";
const DEPTH = 50_000;
/** As text: a test cannot write it again either. */
const DEEP = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`;
const UNWRITABLE = { toString: 1, valueOf: 1 };

test.each([
  ["no parameters where there should be some", { method: "tools/call", params: null }],
  ["no parameters where there may be some", { method: "tools/list", params: null }],
  ["parameters that are a list", { method: "tools/call", params: [1] }],
  ["a method that is no text", { method: UNWRITABLE }],
  ["a tool's name that is no text", { method: "tools/call", params: { name: UNWRITABLE } }],
  ["parts that are null", { method: "tools/call", params: { name: "work", arguments: null, _meta: null } }],
  ["parameters that nest deep", { method: "tools/list", params: { cursor: "x", deep: "DEEP" } }],
  [
    "a reading call that nests deep",
    { method: "tools/call", params: { name: "list_editors", deep: "DEEP" } },
  ],
  [
    "arguments that nest deep",
    { method: "tools/call", params: { name: "work", arguments: { Name: "DEEP" } } },
  ],
])("revision 2025-11-25: %s", async (_, message) => {
  const system = await start();
  const { url, log } = await serve(system.gateway);
  const params = { ...INITIALIZE.params, protocolVersion: REVISION };
  const session = (await post(url, { ...INITIALIZE, params })).sessionId ?? "";
  const headers = { "mcp-protocol-version": REVISION };
  const sent = JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }).replace('"DEEP"', DEEP);
  const { status, messages } = await post(url, sent, { session, headers });
  expect([200, 400]).toContain(status);
  expect(messages).toHaveLength(1);
  expect(log.lines.map(({ message }) => message)).not.toContain("an exchange on /mcp failed");
});

test("revision 2026-07-28: many resources on one stream are told of, and no leak is suspected", async () => {
  const system = await start();
  const { url } = await serve(system.gateway);
  await ask(url, "tools/call", { name: "work", arguments: { Name: "a", Hold: true, timeout: 0 } });
  const [view] = await system.broker.list("local", 1);
  const uris = Array.from(
    { length: 50 },
    (_, at) => `unity-broker://results/${view?.record.logId}?offset=${at}`,
  );
  const listen = statelessRequest("subscriptions/listen", { notifications: { resourceSubscriptions: uris } });
  const stream = await openEventStream(url, statelessHeaders(listen), listen);
  await system.bench.begins("a");
  system.bench.finish("a");
  await stream.next(({ message }) => message?.params?.uri === uris.at(-1));
  stream.cut();
  expect(warnings).toEqual([]);
});
