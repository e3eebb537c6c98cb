/** Which Editor the calls of an MCP session go to that name none: folder, roots, select_editor. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, test } from "vitest";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { type StdioOptions, serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { BrokerToolCall } from "../../../src/gateway/mcp/tools/broker-tool.js";
import { SELECT } from "../../../src/gateway/mcp/tools/broker-tools.js";
import { keys } from "../../../src/shared/store/keys.js";
import {
  createHeardLog,
  createLinePeer,
  createPipes,
  createPipeTransport,
  INITIALIZE,
  post,
  reported,
  toolCall,
} from "../../harness/mcp/mcp.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function withTwo(): Promise<System & { second: System["editor"] }> {
  const system = await start();
  const second = await system.addEditor();
  await system.present(second);
  return { ...system, second };
}

function serve(system: System, options: StdioOptions = {}) {
  const pipes = createPipes();
  const log = createHeardLog();
  const service = serveStdio({ gateway: system.gateway, log, version: "0.0.0" }, pipes, {
    listDebounceMs: 10,
    ...options,
  });
  closers.push(() => service.close());
  return { pipes, log };
}

/** A client that numbers its calls itself and says nothing unasked. */
async function rawClient(system: System, options: StdioOptions = {}, capabilities: object = {}) {
  const served = serve(system, options);
  const peer = createLinePeer(served.pipes);
  const { params } = INITIALIZE;
  peer.send({ ...INITIALIZE, params: { ...params, capabilities } });
  peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await peer.answer(0);
  let lastId = 0;
  return {
    ...served,
    ...peer,
    async call(name: string, args: Record<string, unknown> = {}) {
      lastId += 1;
      peer.send(toolCall(lastId, name, args));
      return reported(await peer.answer(lastId));
    },
  };
}

let works = 0;
/** Where new work goes, or the error that it meets. */
async function placeOf(
  client: { call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> },
  { broker }: System,
): Promise<unknown> {
  works += 1;
  const answer = await client.call("work", { Name: `work ${works}`, timeout: 10 });
  if (answer.status === "error") return answer.error_code;
  const { record } = (await broker.read("local", String(answer.log_id))) as { record: { editor: string } };
  return record.editor;
}

describe("over stdio", () => {
  test("the client's working folder chooses, select_editor before it, a name before that; null takes the choice back", async () => {
    const system = await withTwo();
    const { editor, second } = system;
    const client = await rawClient(system, { folder: "/projects/game-2/Assets/Scripts" });
    expect(await placeOf(client, system)).toBe(second.editorId);

    const chosen = await client.call("select_editor", { editor: "Game-1" });
    expect(chosen).toMatchObject({
      status: "completed",
      selected: { id: editor.editorId, project: "game-1", connected: true },
      message: expect.stringContaining(editor.editorId),
    });
    expect(await placeOf(client, system)).toBe(editor.editorId);
    const { editors } = await client.call("list_editors");
    expect((editors as { selected?: boolean }[]).map(({ selected }) => selected)).toEqual(
      expect.arrayContaining([true, undefined]),
    );
    expect(await client.call("work", { Name: "by name", editor: "game-2", timeout: 10 })).toMatchObject({
      status: "completed",
    });
    expect(second.counter().map(({ what }) => what)).toContain("by name");

    expect(await client.call("select_editor", { editor: null })).toMatchObject({ selected: null });
    expect(await placeOf(client, system)).toBe(second.editorId);
  });

  test("an Editor that is away can be selected: its calls wait for it; one that is unknown cannot", async () => {
    const system = await withTwo();
    const { second, away } = system;
    const client = await rawClient(system);
    expect(await placeOf(client, system)).toBe("EDITOR_AMBIGUOUS");
    expect(await client.call("select_editor", { editor: "game-3" })).toMatchObject({
      status: "error",
      error_code: "EDITOR_UNKNOWN",
    });
    expect(await client.call("select_editor", { editor: "game" })).toMatchObject({
      error_code: "EDITOR_UNKNOWN",
    });
    expect(await client.call("select_editor", { editor: "pool:unity=6000.0.30f1" })).toMatchObject({
      error_code: "INVALID_ARGUMENTS",
      message: expect.stringContaining("is a pool"),
    });
    await second.close();
    await away(second);
    expect(await client.call("select_editor", { editor: "game-2" })).toMatchObject({
      selected: { id: second.editorId, connected: false },
      message: expect.stringContaining("not connected"),
    });
    expect(await client.call("work", { Name: "later", timeout: 0 })).toMatchObject({
      status: "timeout",
      state: expect.stringMatching(/accepted|queued/),
    });
  });

  test("the roots of a client choose, through links too, and again when they change", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ujb-roots-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, "Real", "Assets"), { recursive: true });
    symlinkSync(join(folder, "Real"), join(folder, "link"));
    const system = await start();
    const linked = await system.addEditor({ projectPath: join(folder, "Real") });
    await system.present(linked);

    const { pipes, log } = serve(system, { folder: "/" });
    const sdk = new Client(
      { name: "test", version: "1" },
      { capabilities: { roots: { listChanged: true } } },
    );
    let roots = [join(folder, "link", "Assets")].map((path) => ({ uri: pathToFileURL(path).href }));
    sdk.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
    await sdk.connect(createPipeTransport(pipes));
    const client = {
      call: async (name: string, args: Record<string, unknown>) =>
        (await sdk.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>,
    };
    await log.said("read the client's roots");
    expect(await placeOf(client, system)).toBe(linked.editorId);

    roots = [{ uri: "file:///projects/game-1" }, { uri: "file://elsewhere/projects/game-1" }];
    await sdk.sendRootsListChanged();
    await log.said("read the client's roots");
    expect(await placeOf(client, system)).toBe(system.editor.editorId);
    roots = [];
    await sdk.sendRootsListChanged();
    await log.said("read the client's roots");
    expect(await placeOf(client, system)).toBe("EDITOR_AMBIGUOUS");
  });

  test("a client that never tells its roots is served as ever; one that has none is not asked", async () => {
    const system = await withTwo();
    const silent = await rawClient(system, { folder: "/projects/game-1" }, { roots: {} });
    await silent.next(({ method }) => method === "roots/list");
    expect(await placeOf(silent, system)).toBe(system.editor.editorId);
    const plain = await rawClient(system, { folder: "/projects/game-1" });
    expect(await placeOf(plain, system)).toBe(system.editor.editorId);
    expect(plain.received.filter(({ method }) => method === "roots/list")).toEqual([]);
  });
});

test("a request that belongs to no session cannot select", async () => {
  const call = { selection: undefined } as BrokerToolCall;
  await expect(SELECT.run({ editor: "game-1" }, call)).rejects.toMatchObject({
    code: "INVALID_ARGUMENTS",
    message: expect.stringContaining("belongs to none"),
  });
});

describe("over HTTP", () => {
  async function listen(gateway: Gateway) {
    const log = createHeardLog();
    const http = await createHttpGateway({ gateway, log, version: "0.0.0" }, { host: "127.0.0.1", port: 0 });
    closers.push(http.close);
    return http;
  }

  function sessionOver(url: string, session: string) {
    let lastId = 0;
    return {
      async call(name: string, args: Record<string, unknown> = {}) {
        lastId += 1;
        return reported((await post(url, toolCall(lastId, name, args), { session })).messages.at(-1));
      },
    };
  }

  test("a session keeps its selection in a gateway that takes it over; other sessions have none", async () => {
    const system = await withTwo();
    const first = await listen(system.gateway);
    const { sessionId } = await post(first.url, INITIALIZE);
    const id = sessionId ?? "";
    const client = sessionOver(first.url, id);
    expect(await placeOf(client, system)).toBe("EDITOR_AMBIGUOUS");
    await client.call("select_editor", { editor: "game-2" });
    expect(await placeOf(client, system)).toBe(system.second.editorId);
    const other = await post(first.url, INITIALIZE);
    expect(await placeOf(sessionOver(first.url, other.sessionId ?? ""), system)).toBe("EDITOR_AMBIGUOUS");
    await first.close();

    const next = await listen(await system.addGateway());
    expect(await placeOf(sessionOver(next.url, id), system)).toBe(system.second.editorId);
    await sessionOver(next.url, id).call("select_editor", { editor: null });
    await next.close();

    const last = await listen(await system.addGateway());
    expect(await placeOf(sessionOver(last.url, id), system)).toBe("EDITOR_AMBIGUOUS");
  });

  test("what is selected at one gateway holds at another that serves the session too", async () => {
    const system = await withTwo();
    const { editor, second } = system;
    const one = await listen(system.gateway);
    const two = await listen(await system.addGateway());
    const id = (await post(one.url, INITIALIZE)).sessionId ?? "";
    const [here, there] = [sessionOver(one.url, id), sessionOver(two.url, id)];
    await here.call("select_editor", { editor: "game-1" });
    expect(await placeOf(there, system)).toBe(editor.editorId);
    await here.call("select_editor", { editor: "game-2" });
    expect(await placeOf(there, system)).toBe(second.editorId);
    const { editors } = await there.call("list_editors");
    const chosen = (editors as { id: string; selected?: boolean }[]).filter(({ selected }) => selected);
    expect(chosen).toMatchObject([{ id: second.editorId }]);
    await there.call("select_editor", { editor: null });
    expect(await placeOf(here, system)).toBe("EDITOR_AMBIGUOUS");
  });

  test("what is selected after the store forgot the session holds at the other gateway, too", async () => {
    const system = await withTwo();
    const one = await listen(system.gateway);
    const two = await listen(await system.addGateway());
    const id = (await post(one.url, INITIALIZE)).sessionId ?? "";
    const [here, there] = [sessionOver(one.url, id), sessionOver(two.url, id)];
    await here.call("select_editor", { editor: "game-1" });
    expect(await placeOf(there, system)).toBe(system.editor.editorId);
    await system.hand.del(keys.session(id));
    await here.call("select_editor", { editor: "game-2" });
    expect(await placeOf(there, system)).toBe(system.second.editorId);
  });

  test("what was selected holds in its process when the store has forgotten the session", async () => {
    const system = await withTwo();
    const { url } = await listen(system.gateway);
    const id = (await post(url, INITIALIZE)).sessionId ?? "";
    const client = sessionOver(url, id);
    await client.call("select_editor", { editor: "game-2" });
    await system.hand.del(keys.session(id));
    expect(await placeOf(client, system)).toBe(system.second.editorId);
    await client.call("select_editor", { editor: "game-1" });
    expect(await placeOf(client, system)).toBe(system.editor.editorId);
  });
});
