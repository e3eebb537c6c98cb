/** MCP of revision 2026-07-28: requests without a session, over HTTP and standard streams, beside those of earlier revisions. */
import { afterEach, describe, expect, test } from "vitest";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import {
  createHeardLog,
  createLinePeer,
  createPipes,
  createPipeTransport,
  INITIALIZE,
  post,
  toolCall,
} from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import {
  answerTo,
  ask,
  connectStateless,
  REVISION,
  statelessClient,
  statelessHeaders,
  statelessRequest,
  TASKS,
} from "../../harness/mcp/stateless.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve, http } = useMcpCallers();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const PROGRESS = { progress: { everyMs: 20, minMs: 1 } };

function stdio(system: System) {
  const pipes = createPipes();
  const deps = { gateway: system.gateway, log: createHeardLog(), version: "0.0.0" };
  const service = serveStdio(deps, pipes, { listDebounceMs: 10, ...PROGRESS });
  closers.push(service.close);
  return { pipes, service };
}

/** The SDK's client of this revision. */
async function connected(system: System, transport: "HTTP" | "stdio") {
  if (transport === "HTTP") {
    const client = await connectStateless((await serve(system.gateway, PROGRESS)).url);
    closers.push(() => client.close());
    return client;
  }
  const client = statelessClient();
  await client.connect(createPipeTransport(stdio(system).pipes) as never);
  closers.push(() => client.close());
  return client;
}

describe.each(["HTTP", "stdio"] as const)("the SDK's client over %s", (transport) => {
  test("discovers, lists, calls, and reads a result", async () => {
    const system = await start();
    const client = await connected(system, transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(REVISION);
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true }, resources: {} });
    expect(client.getServerVersion()).toMatchObject({ name: "unity-job-broker", version: "0.0.0" });
    expect(client.getInstructions()).toContain("executed at most once");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["work", "list_editors"]));
    const answer: Answer = answerIn(
      await client.callTool({ name: "work", arguments: { Name: "a", timeout: 30 } }),
    );
    expect(answer).toMatchObject({ status: "completed", result: { Done: "a" } });
    const { resources } = await client.listResources();
    const resource = resources.find(({ uri }) => uri.endsWith(answer.log_id ?? "none"));
    const read = await client.readResource({ uri: resource?.uri ?? "" });
    expect(read.contents[0]).toMatchObject({ text: '{"Done":"a"}' });
    await expect(client.readResource({ uri: "unity-broker://results/none" })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test("hears how its call goes on", async () => {
    const system = await start();
    const client = await connected(system, transport);
    const shown: number[] = [];
    const call = client.callTool(
      { name: "work", arguments: { Name: "a", Hold: true, timeout: 30 } },
      { onprogress: ({ progress }) => shown.push(progress) },
    );
    await system.bench.begins("a");
    await eventually(() => shown.length > 3, "progress is shown");
    system.bench.finish("a");
    expect(answerIn<Answer>(await call).status).toBe("completed");
    expect(shown).toEqual([...new Set(shown)].sort((a, b) => a - b));
  });

  test("hears that the tools changed, and hears nothing any more once it stopped listening", async () => {
    const system = await start();
    const client = await connected(system, transport);
    let heard = 0;
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      heard += 1;
    });
    const subscription = await client.listen({ toolsListChanged: true });
    await system.addEditor();
    await eventually(() => heard > 0, "the change is heard");
    await subscription.close();
  });
});

describe("over HTTP", () => {
  test("answers by JSON what is short, and a call by a stream; every result says who answers", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const discovered = (await ask(url, "server/discover")).messages[0];
    expect(discovered?.result).toMatchObject({
      resultType: "complete",
      supportedVersions: [REVISION],
      capabilities: { extensions: { [TASKS]: {} } },
      cacheScope: "public",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "unity-job-broker", version: "0.0.0" } },
    });
    const listed = await ask(url, "tools/list");
    expect(listed.sessionId).toBeNull();
    expect(listed.messages[0]?.result).toMatchObject({ resultType: "complete", cacheScope: "private" });
    expect(listed.messages[0]?.result?.ttlMs).toBeGreaterThanOrEqual(0);
    for (const method of ["resources/list", "resources/templates/list"]) {
      expect((await ask(url, method)).messages[0]?.result?.ttlMs).toBeGreaterThanOrEqual(0);
    }
    const called = await ask(url, "tools/call", { name: "list_editors", arguments: {} });
    expect(called.messages[0]?.result).toMatchObject({ resultType: "complete" });
  });

  test("a session of an earlier revision is served beside it, and finds the same operation", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const session = await http(served);
    const args = { Name: "a", idempotency_key: "a" };
    expect((await session.call("work", args)).status).toBe("completed");
    const again = await answerTo(served.url, "work", { ...args, timeout: 30 });
    expect(again).toMatchObject({ status: "completed", deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });

  test("select_editor says that there is no session to choose for", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const chosen = await answerTo(url, "select_editor", { editor: system.editor.editorId });
    expect(chosen).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS" });
  });

  test("what the headers say must be what the body says", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const params = { name: "work", arguments: { Name: "a" } };
    const wrong: [string, Record<string, string | undefined>][] = [
      ["no version", { "mcp-protocol-version": undefined }],
      ["another version", { "mcp-protocol-version": "2025-11-25" }],
      ["no method", { "mcp-method": undefined }],
      ["another method", { "mcp-method": "tools/list" }],
      ["the method in capitals", { "mcp-method": "TOOLS/CALL" }],
      ["no name", { "mcp-name": undefined }],
      ["another name", { "mcp-name": "look" }],
      ["damaged Base64", { "mcp-name": "=?base64?d29ya?=" }],
    ];
    for (const [what, headers] of wrong) {
      const { status, messages } = await ask(url, "tools/call", params, { id: 7, headers });
      expect({ what, status, id: messages[0]?.id, code: messages[0]?.error?.code }).toEqual({
        ...{ what, status: 400, id: 7, code: -32020 },
      });
    }
    const encoded = { "mcp-name": `=?base64?${Buffer.from("work").toString("base64")}?=` };
    const served = await ask(url, "tools/call", params, { headers: encoded });
    expect(served.messages.at(-1)?.result).toMatchObject({ resultType: "complete" });
    expect(system.executions("a")).toBe(1);
  });

  test("what a request must say for itself, and what this revision does not have, is refused as the protocol says", async () => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const request = statelessRequest("tools/list", {}, { id: "x" });
    const without = (key: string) => {
      const { [`io.modelcontextprotocol/${key}`]: _, ..._meta } = request.params._meta as Record<
        string,
        unknown
      >;
      return post(url, { ...request, params: { _meta } }, { headers: statelessHeaders(request) });
    };
    for (const key of ["protocolVersion", "clientCapabilities"]) {
      const { status, messages } = await without(key);
      expect({ status, code: messages[0]?.error?.code, id: messages[0]?.id }).toEqual({
        ...{ status: 400, code: -32602, id: "x" },
      });
    }
    expect((await without("clientInfo")).status).toBe(200);
    const other = await ask(url, "tools/list", {}, { version: "2099-01-01" });
    expect(other.status).toBe(400);
    expect(other.messages[0]?.error).toMatchObject({
      code: -32022,
      data: { supported: [REVISION], requested: "2099-01-01" },
    });
    for (const method of ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list"]) {
      const { status, messages } = await ask(url, method);
      expect({ method, status, code: messages[0]?.error?.code }).toEqual({
        method,
        status: 404,
        code: -32601,
      });
    }
    const noTool = await ask(url, "tools/call", { name: "no-such-tool", arguments: {} });
    expect(noTool.messages.at(-1)?.error?.code).toBe(-32602);
  });

  test("a listener's stream begins with what it will hear, and ends in order when the gateway closes", async () => {
    const system = await start();
    const served = await serve(system.gateway);
    const nothing = await ask(served.url, "subscriptions/listen", {
      notifications: { promptsListChanged: true },
    });
    expect(nothing.messages).toMatchObject([
      {
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: {}, _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
      },
      { result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } } },
    ]);
    const listening = ask(
      served.url,
      "subscriptions/listen",
      { notifications: { toolsListChanged: true } },
      { id: "ears" },
    );
    const other = await ask(served.url, "tools/list");
    expect(other.status).toBe(200);
    await served.close();
    const { messages } = await listening;
    expect(messages).toMatchObject([
      { params: { notifications: { toolsListChanged: true } } },
      { id: "ears", result: { _meta: { "io.modelcontextprotocol/subscriptionId": "ears" } } },
    ]);
  });
});

test("a request that names a level hears what the Console says while it waits; another one hears nothing", async () => {
  const system = await start();
  const { url } = await serve(system.gateway);
  const call = async (name: string, _meta: object) => {
    const params = { name: "work", arguments: { Name: name, Hold: true, timeout: 30 }, _meta };
    const called = ask(url, "tools/call", params);
    await system.bench.begins(name);
    system.editor.log("Log", "too quiet");
    system.editor.log("Warning", `of ${name}`);
    await eventually(async () => {
      const [view] = await system.broker.list("local", 1);
      return ((await system.broker.log("local", view?.record.logId ?? "", 0))?.lines.length ?? 0) === 2;
    }, "the lines are there");
    system.bench.finish(name);
    return (await called).messages.flatMap(({ method, params }) => (method ? [{ method, ...params }] : []));
  };
  expect(await call("a", { "io.modelcontextprotocol/logLevel": "warning" })).toEqual([
    { method: "notifications/message", level: "warning", logger: "Unity Console", data: "of a" },
  ]);
  expect(await call("b", {})).toEqual([]);
});

test("a listener is told when the operation ends whose resource it named; the addresses of resources are completed", async () => {
  const system = await start();
  const client = await connected(system, "HTTP");
  const held = { name: "work", arguments: { Name: "a", Hold: true, timeout: 0 } };
  const { log_id = "" } = answerIn<Answer>(await client.callTool(held));
  await system.bench.begins("a");
  const uri = `unity-broker://operations/${log_id}`;
  const told: string[] = [];
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void told.push(params.uri),
  );
  const subscription = await client.listen({ resourceSubscriptions: [uri, "test://another"] });
  expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] });
  const completed = await client.complete({
    ref: { type: "ref/resource", uri: "unity-broker://operations/{log_id}" },
    argument: { name: "log_id", value: log_id.slice(0, 4) },
  });
  expect(completed.completion.values).toEqual([log_id]);
  system.bench.finish("a");
  await eventually(() => told.length > 0, "it is told");
  expect(told).toEqual([uri]);
  await subscription.close();
});

test("the prompts are listed, filled in and completed; what is missing is refused as invalid parameters", async () => {
  const system = await start();
  const client = await connected(system, "HTTP");
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["start_and_wait", "after_a_timeout", "run_again"]);
  const given = { tool: "look", log_id: "0b6f" };
  const { messages } = await client.getPrompt({ name: "run_again", arguments: given });
  expect(JSON.stringify(messages)).toContain("look once more");
  const completed = await client.complete({
    ref: { type: "ref/prompt", name: "run_again" },
    argument: { name: "tool", value: "loo" },
  });
  expect(completed.completion.values).toEqual(["look"]);
  await expect(client.getPrompt({ name: "run_again" })).rejects.toMatchObject({ code: -32602 });
});

describe("on standard streams", () => {
  test("each message is served by the revision that it speaks", async () => {
    const system = await start();
    const peer = createLinePeer(stdio(system).pipes);
    peer.send(statelessRequest("server/discover", {}, { id: "d" }));
    expect((await peer.answer("d")).result).toMatchObject({ supportedVersions: [REVISION] });
    peer.send(
      statelessRequest("tools/call", { name: "work", arguments: { Name: "a", timeout: 30 } }, { id: 1 }),
    );
    expect((await peer.answer(1)).result).toMatchObject({ resultType: "complete" });
    peer.send(INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" });
    expect((await peer.answer(0)).result).toMatchObject({ protocolVersion: "2025-06-18" });
    peer.send(toolCall(2, "look", { Name: "b", timeout: 30 }));
    const old = await peer.answer(2);
    expect(old.result).not.toHaveProperty("resultType");
    peer.send(statelessRequest("ping", {}, { id: 3 }));
    expect((await peer.answer(3)).error?.code).toBe(-32601);
    peer.send(statelessRequest("tools/list", {}, { id: 4, version: "2099-01-01" }));
    expect((await peer.answer(4)).error).toMatchObject({ code: -32022, data: { supported: [REVISION] } });
    peer.send({
      ...statelessRequest("tools/list", {}, { id: 5 }),
      params: { _meta: { "io.modelcontextprotocol/protocolVersion": REVISION } },
    });
    expect((await peer.answer(5)).error?.code).toBe(-32602);
  });

  test("the process is a caller, whose next message proves that it read a quick answer: the same call runs again", async () => {
    const system = await start();
    const peer = createLinePeer(stdio(system).pipes);
    const params = { name: "work", arguments: { Name: "a", timeout: 30 } };
    for (const id of [1, 2]) {
      peer.send(statelessRequest("tools/call", params, { id }));
      expect((await peer.answer(id)).result?.structuredContent).not.toHaveProperty("deduplicated");
      peer.send(statelessRequest("server/discover", {}, { id: `settle ${id}` }));
      await peer.answer(`settle ${id}`);
    }
    expect(system.executions("a")).toBe(2);
  });

  test("a listener is told under its own id, is not told any more once it cancelled, and holds up no end", async () => {
    const system = await start();
    const { pipes, service } = stdio(system);
    const peer = createLinePeer(pipes);
    const listen = (id: string) =>
      peer.send(
        statelessRequest("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id }),
      );
    const ofId = (id: string) => (message: { params?: Record<string, unknown> }) =>
      (message.params?._meta as Record<string, unknown> | undefined)?.[
        "io.modelcontextprotocol/subscriptionId"
      ] === id;
    listen("one");
    await peer.next(ofId("one"));
    listen("two");
    await peer.next(ofId("two"));
    peer.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "one" } });
    peer.send(statelessRequest("tools/list", {}, { id: 9 }));
    await peer.answer(9);
    await system.addEditor();
    await eventually(() => peer.received.filter(ofId("two")).length > 1, "the second is told");
    expect(peer.received.filter(ofId("one"))).toHaveLength(1);
    pipes.stdin.end();
    expect(await service.closed).toBe("input_ended");
    expect(await peer.answer("two")).toMatchObject({
      result: { _meta: { "io.modelcontextprotocol/subscriptionId": "two" } },
    });
    expect(peer.received.some(({ id }) => id === "one")).toBe(false);
  });
});
