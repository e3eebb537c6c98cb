/**
 * What clients send, on every surface that carries MCP: each member null, missing, of another type and written twice. Whatever asks for an
 * answer gets one that its sender can use, and the session goes on.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createConnections } from "../../../src/cli/broker/connections.js";
import { createPipe } from "../../../src/cli/pipe/pipe.js";
import { createExchanges } from "../../../src/gateway/exchange.js";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { openPipeSession } from "../../../src/gateway/mcp/pipe/pipe-session.js";
import { createToolList } from "../../../src/gateway/mcp/tools/tool-list.js";
import { WAITS } from "../../../src/shared/wait-time.js";
import {
  createLinePeer,
  createPipes,
  INITIALIZE,
  type Pipes,
  post,
  type RpcAnswer,
} from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { REVISION } from "../../harness/mcp/stateless.js";
import { useSocketClients } from "../../harness/rest/socket-client.js";
import { SILENT } from "../../harness/silent.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const callers = useMcpCallers();
const sockets = useSocketClients();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Sends a text as it is. Answers with what came back of it, after the surface has served another call. */
interface Surface {
  exchange(text: string): Promise<RpcAnswer[]>;
}

const VERSION = { "io.modelcontextprotocol/protocolVersion": REVISION };
const ENVELOPE = {
  ...VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

let barriers = 0;
const barrier = (meta: object) => {
  barriers += 1;
  const params = { name: "list_editors", arguments: {}, _meta: meta };
  return { jsonrpc: "2.0", id: `barrier ${barriers}`, method: "tools/call", params };
};

async function lineSurface(pipes: Pipes, first: string, isStateless: boolean): Promise<Surface> {
  const peer = createLinePeer(pipes);
  const meta = isStateless ? ENVELOPE : {};
  const surface: Surface = {
    async exchange(text) {
      const from = peer.received.length;
      const served = barrier(meta);
      peer.send(text, served);
      expect(await peer.answer(served.id)).toMatchObject({ result: expect.anything() });
      // A call that came before it may be answered after it.
      const last = barrier(meta);
      peer.send(last);
      await peer.answer(last.id);
      const own = peer.received
        .slice(from)
        .filter(({ id, method }) => !String(id).startsWith("barrier") && !method);
      return own;
    },
  };
  peer.send(first, { jsonrpc: "2.0", method: "notifications/initialized" });
  await peer.answer(0);
  return surface;
}

const BOM = "\uFEFF";
const FIRST = `${BOM}${JSON.stringify(INITIALIZE)}`;

function openStdio({ gateway }: System): Pipes {
  const pipes = createPipes();
  const service = serveStdio({ gateway, log: SILENT, version: "0.0.0" }, pipes, { listDebounceMs: 10 });
  closers.push(service.close);
  return pipes;
}

async function openPipe({ gateway, store, broker }: System): Promise<Pipes> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-pipe-"));
  const toolList = createToolList({ broker, notifier: store.notifier, log: SILENT });
  const deps = {
    broker,
    exchanges: createExchanges({ deliveries: broker, log: SILENT }),
    toolList,
    log: SILENT,
    version: "0.0.0",
    answers: gateway.answers,
  };
  const connections = createConnections({
    version: "0.0.0",
    opening: Promise.resolve((line, hello) => openPipeSession(deps, line, hello)),
    status: () => ({ isForeground: true, startedAt: 0 }),
    asked: async () => false,
  });
  const server = createServer(connections.add).listen(join(folder, "socket"));
  await once(server, "listening");
  const pipes = createPipes();
  const pipe = createPipe(
    {
      ...{ version: "0.0.0", folder, waits: WAITS },
      async connect() {
        const socket = connect(join(folder, "socket"));
        await once(socket, "connect");
        return socket;
      },
    },
    pipes,
  );
  closers.push(async () => {
    pipes.stdin.end();
    await pipe.closed;
    await connections.close();
    server.close();
    toolList.close();
    rmSync(folder, { recursive: true });
  });
  return pipes;
}

async function httpSurface({ gateway }: System): Promise<Surface> {
  const { url } = await callers.serve(gateway);
  const session = (await post(url, FIRST)).sessionId ?? "";
  return {
    async exchange(text) {
      const { status, messages } = await post(url, text, { session });
      expect(status).toBeOneOf([200, 202, 400]);
      const served = barrier({});
      expect((await post(url, served, { session })).messages.at(-1)).toMatchObject({
        id: served.id,
        result: {},
      });
      return messages.filter(({ method }) => method === undefined);
    },
  };
}

async function statelessHttpSurface({ gateway }: System): Promise<Surface> {
  const { url } = await callers.serve(gateway);
  /** As its client would write them, which knows what it sends. */
  const headersOf = (text: string): Record<string, string> => {
    const [, method] = /"method":"([^"]*)"(?!.*"method":)/.exec(text) ?? [];
    const [, name] = /"name":"(list_editors|text)"(?!.*"name":"list)/.exec(text) ?? [];
    return {
      "mcp-protocol-version": REVISION,
      ...(method === undefined ? {} : { "mcp-method": method }),
      ...(name === undefined ? {} : { "mcp-name": name }),
    };
  };
  const send = (text: string) => post(url, text, { headers: headersOf(text) });
  return {
    async exchange(text) {
      const { status, messages } = await send(text);
      expect(status).toBeOneOf([200, 202, 400, 404]);
      const served = barrier(ENVELOPE);
      const { messages: barred } = await send(JSON.stringify(served));
      expect(barred.at(-1)).toMatchObject({ id: served.id, result: {} });
      return messages.filter(({ method }) => method === undefined);
    },
  };
}

interface SurfaceKind {
  /** What it opens has been initialised. */
  open(system: System): Promise<Surface>;
  isStateless: boolean;
  /** What asks for no answer gets none. */
  isLine: boolean;
}

const SURFACES: Record<string, SurfaceKind> = {
  stdio: {
    open: async (system) => lineSurface(openStdio(system), FIRST, false),
    isStateless: false,
    isLine: true,
  },
  "stdio, 2026-07-28": {
    open: async (system) => lineSurface(openStdio(system), FIRST, true),
    isStateless: true,
    isLine: true,
  },
  "a pipe": {
    open: async (system) => lineSurface(await openPipe(system), FIRST, false),
    isStateless: false,
    isLine: true,
  },
  "a pipe, 2026-07-28": {
    open: async (system) => lineSurface(await openPipe(system), FIRST, true),
    isStateless: true,
    isLine: true,
  },
  HTTP: { open: httpSurface, isStateless: false, isLine: false },
  "HTTP, 2026-07-28": { open: statelessHttpSurface, isStateless: true, isLine: false },
};

/** JSON text, in which a member whose name ends in a space is written under the name without it. */
const raw = (value: unknown): string => JSON.stringify(value).replaceAll(/"(\w+) ":/g, '"$1":');

/** `nobody`: nobody waits for an answer, and only HTTP, where each message is answered, says what is wrong. */
type Expected = { code: number; id?: unknown } | "served" | "silent" | "refused" | "nobody";

const INVALID_REQUEST: Expected = { code: -32600 };
const INVALID_PARAMS: Expected = { code: -32602 };
const UNUSABLE_ID: Expected = { code: -32600, id: null };

const OTHERS: readonly unknown[] = ["text", 5, 1.5, 2 ** 60, true, [], {}];
const isText = (value: unknown): boolean => typeof value === "string";
const isMap = (value: unknown): boolean => typeof value === "object" && !Array.isArray(value);

/** A member of a call, and what becomes of the call without it, and with another value in it. */
interface Member {
  path: readonly string[];
  missing: Expected;
  with(other: unknown): Expected;
}

const MEMBERS: readonly Member[] = [
  { path: ["jsonrpc"], missing: INVALID_REQUEST, with: () => INVALID_REQUEST },
  {
    path: ["id"],
    missing: "silent",
    with(other) {
      if (isText(other) || other === 5) return "served";
      return other === 1.5 ? { code: -32600, id: 1.5 } : UNUSABLE_ID;
    },
  },
  {
    path: ["method"],
    missing: INVALID_REQUEST,
    with: (other) => (isText(other) ? { code: -32601 } : INVALID_REQUEST),
  },
  { path: ["params"], missing: INVALID_PARAMS, with: () => INVALID_PARAMS },
  // A text is the name of no tool.
  { path: ["params", "name"], missing: INVALID_PARAMS, with: () => INVALID_PARAMS },
  {
    path: ["params", "arguments"],
    missing: "served",
    with: (other) => (isMap(other) ? "served" : INVALID_PARAMS),
  },
  {
    path: ["params", "_meta"],
    missing: "served",
    with: (other) => (isMap(other) ? "served" : INVALID_PARAMS),
  },
  {
    path: ["params", "_meta", "progressToken"],
    missing: "served",
    with: (other) => (isText(other) || other === 5 ? "served" : INVALID_PARAMS),
  },
  { path: ["extra"], missing: "served", with: () => "served" },
  { path: ["params", "extra"], missing: "served", with: () => "served" },
];

type Edit = (owner: Record<string, unknown>, name: string) => void;

function edited(
  message: object,
  [name = "", ...rest]: readonly string[],
  edit: Edit,
): Record<string, unknown> {
  const copy = { ...message } as Record<string, unknown>;
  if (rest.length === 0) edit(copy, name);
  else copy[name] = edited(copy[name] as object, rest, edit);
  return copy;
}

interface Case {
  what: string;
  text: string;
  /** Of the request, as its sender wrote it. */
  id: unknown;
  expected: Expected;
}

let lastId = 1_000;
const request = (method: string, params: object) => {
  lastId += 1;
  return { jsonrpc: "2.0", id: lastId, method, params };
};

const call = (meta: object, more: object = {}) =>
  request("tools/call", {
    name: "list_editors",
    arguments: {},
    _meta: { progressToken: "p", ...meta },
    ...more,
  });

/** Each member of a call null, missing, of each other type, and twice. */
function generated({ isStateless, isLine }: SurfaceKind): Case[] {
  const cases: Case[] = [];
  const meta = isStateless ? ENVELOPE : {};
  for (const { path, missing, with: other } of MEMBERS) {
    const at = path.join(".");
    const add = (what: string, edit: Edit, expected: Expected): void => {
      const original = call(meta);
      const message = edited(original, path, edit);
      // Over HTTP a request of that revision says in `_meta` whose it is; on a line one without it belongs to the session.
      const isBare =
        isStateless &&
        !isLine &&
        !what.startsWith("twice") &&
        /^params(\._meta)?$/.test(at) &&
        expected === "served";
      const id = "id" in message ? message.id : original.id;
      cases.push({ what: `${at} ${what}`, text: raw(message), id, expected: isBare ? "refused" : expected });
    };
    const to =
      (value: unknown): Edit =>
      (owner, name) =>
        void Object.assign(owner, { [name]: value });
    add("missing", (owner, name) => delete owner[name], missing);
    add("null", to(null), at === "id" ? UNUSABLE_ID : missing);
    for (const value of OTHERS) add(`as ${JSON.stringify(value)}`, to(value), other(value));
    const twice: Edit = (owner, name) => {
      const { [name]: last, ...others } = owner;
      for (const key of Object.keys(owner)) delete owner[key];
      Object.assign(owner, { [name]: true, ...others, [`${name} `]: last ?? true });
    };
    add("twice, of which the last one counts", twice, "served");
  }
  // The id that is written twice stands under the other name.
  return cases.map((each) =>
    each.id === true && each.expected === "served" ? { ...each, id: idIn(each.text) } : each,
  );
}

const idIn = (text: string): unknown => (JSON.parse(text) as { id: unknown }).id;

const DEEP = `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`;
/** In place of a value that nests deep. */
const HOLE = "the hole";
const filled = (message: object, value = DEEP): string => JSON.stringify(message).replace(`"${HOLE}"`, value);
/** More values than a message may have. */
const MANY = `[${"1,".repeat(20_000)}1]`;
/** No JSON either, which nobody notices: it is not parsed. */
const MANY_WRONG = `[${"1,".repeat(20_000)}x]`;

function written({ isStateless }: SurfaceKind): Case[] {
  const meta = isStateless ? ENVELOPE : {};
  const text = (what: string, sent: string, expected: Expected, id: unknown = null): Case => ({
    what,
    text: sent,
    id,
    expected,
  });
  const one = (
    what: string,
    message: { id: unknown },
    expected: Expected,
    sent = JSON.stringify(message),
  ): Case => text(what, sent, expected, message.id);
  const [first, second] = [call(meta), call(meta)];
  const marked = call(meta);
  const deepExtra = call(meta, { extra: HOLE });
  const deepMeta = call({ ...meta, other: HOLE });
  const deepCapabilities = call({
    ...meta,
    "io.modelcontextprotocol/clientCapabilities": { experimental: { a: HOLE } },
  });
  const deepArguments = call(meta, { arguments: { a: HOLE } });
  const deepBeside = { ...call(meta), extra: HOLE };
  return [
    text("a batch", JSON.stringify([first, second]), UNUSABLE_ID),
    text("an empty batch", "[]", UNUSABLE_ID),
    ...["null", "5", "true", '"text"'].map((sent) => text(`only ${sent}`, sent, UNUSABLE_ID)),
    text("half a message", '{"jsonrpc":"2.0","id":1', { code: -32700, id: null }),
    text("an empty object", "{}", "nobody"),
    text("a notification without jsonrpc", '{"method":"notifications/cancelled"}', "nobody"),
    text(
      "a notification with a list",
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}',
      "nobody",
    ),
    text(
      "a notification with the id null",
      '{"jsonrpc":"2.0","id":null,"method":"notifications/cancelled"}',
      "silent",
    ),
    text("an answer without jsonrpc", '{"id":7,"result":{}}', "nobody"),
    ...(isStateless
      ? []
      : [text("an answer to nothing", '{"jsonrpc":"2.0","id":7,"result":null}', "silent")]),
    one("a byte order mark", marked, "served", `${BOM}${JSON.stringify(marked)}`),
    one("parameters that nest deep", deepExtra, INVALID_PARAMS, filled(deepExtra)),
    one("_meta that nests deep", deepMeta, INVALID_PARAMS, filled(deepMeta)),
    one("capabilities that nest deep", deepCapabilities, INVALID_PARAMS, filled(deepCapabilities)),
    one("arguments that nest deep", deepArguments, INVALID_PARAMS, filled(deepArguments)),
    one("another member that nests deep", deepBeside, INVALID_PARAMS, filled(deepBeside)),
    one("arguments of too many values", deepArguments, INVALID_PARAMS, filled(deepArguments, MANY)),
    one(
      "those before the id",
      deepBeside,
      INVALID_PARAMS,
      filled({ before: HOLE, ...call(meta), id: deepBeside.id }, MANY),
    ),
    one("those that are no JSON", deepArguments, INVALID_PARAMS, filled(deepArguments, MANY_WRONG)),
    text("a batch of too many values", `[${MANY},${JSON.stringify(first)}]`, UNUSABLE_ID),
    text("a notification of too many values", `{"jsonrpc":"2.0","method":"a","params":${MANY}}`, "nobody"),
    text("an answer of too many values", `{"jsonrpc":"2.0","id":7,"result":${MANY}}`, "nobody"),
  ];
}

/** Of the methods of a session: parameters that are missing, wrong, or null where they may be left out. */
function ofMethods(): Case[] {
  const info = { name: "a", version: "1" };
  const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: info };
  const wrong: [string, object][] = [
    ["initialize", { ...initialize, clientInfo: { name: 5, version: "1" } }],
    ["initialize", { ...initialize, capabilities: null }],
    ["initialize", { ...initialize, capabilities: { elicitation: 5 } }],
    ["tools/list", { cursor: 5 }],
    ["prompts/get", { name: null }],
    ["prompts/get", { name: "a", arguments: { a: 1 } }],
    ["resources/read", { uri: {} }],
    ["logging/setLevel", { level: "loud" }],
    ["completion/complete", { ref: { type: "ref/tool" }, argument: { name: "a", value: "b" } }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "a" }, argument: 1 }],
    ["tools/call", { name: "list_editors", task: 5 }],
    ["tools/call_async", { name: "list_editors", arguments: [] }],
    ["tools/result", { log_id: 5 }],
    ["tasks/get", {}],
  ];
  const right: [string, object][] = [
    ["tools/list", { cursor: null }],
    ["tools/call", { name: "list_editors", task: null }],
    ["tools/call_async", { name: "list_editors", arguments: null, timeout: null, enable_progress: null }],
    ["ping", { _meta: { a: null } }],
    ["logging/setLevel", { level: "info", logger: null }],
    [
      "completion/complete",
      {
        ref: { type: "ref/prompt", name: "a", title: null },
        argument: { name: "a", value: "b" },
        context: null,
      },
    ],
  ];
  const caseOf =
    (expected: Expected) =>
    ([method, params]: [string, object]): Case => {
      const message = request(method, params);
      return {
        what: `${method} ${JSON.stringify(params)}`,
        text: JSON.stringify(message),
        id: message.id,
        expected,
      };
    };
  return [...wrong.map(caseOf(INVALID_PARAMS)), ...right.map(caseOf("served"))];
}

function judge({ what, id, expected }: Case, { isLine }: SurfaceKind, answers: RpcAnswer[]): void {
  if (expected === "silent" || (expected === "nobody" && isLine)) {
    expect(answers, what).toEqual([]);
    return;
  }
  expect(answers, what).toHaveLength(1);
  const [answer] = answers;
  if (expected === "served") {
    expect(answer, what).toMatchObject({ id, result: expect.anything() });
    return;
  }
  const said = answer?.error?.message ?? "";
  if (typeof expected === "object") {
    const usable = "id" in expected ? expected.id : id;
    expect(answer, what).toMatchObject({ id: usable, error: { code: expected.code } });
  } else
    expect(answer, what).toMatchObject({ id: expected === "nobody" ? null : id, error: expect.anything() });
  // A sentence, and no list of issues.
  expect(said, what).toMatch(/^[A-Z`]/);
  expect(said, what).not.toMatch(/invalid_|expected|Zod|\n/);
}

describe.each(Object.entries(SURFACES))("%s", (_name, kind) => {
  test("answers what asks for an answer, and serves on", { timeout: 120_000 }, async () => {
    const system = await start();
    const surface = await kind.open(system);
    const methods = kind.isStateless ? [] : ofMethods();
    for (const each of [...generated(kind), ...written(kind), ...methods])
      judge(each, kind, await surface.exchange(each.text));
  });
});

test("over a WebSocket a wrong message is answered under its id, and null is like leaving out", async () => {
  const { gateway } = await start();
  const { url } = await callers.serve(gateway);
  const { say, answer, next } = await sockets.connect(new URL(url).origin);
  const none = "00000000-0000-4000-8000-000000000000";
  const cases: [object, RegExp | number][] = [
    [{ type: null }, /type/],
    [{ type: "dance" }, /type/],
    [{ type: "read" }, /log_id is missing/],
    [{ type: "read", log_id: 5 }, /log_id must be a string/],
    [{ type: "read", log_id: none, wait: "long" }, /wait must be a number/],
    [{ type: "read", log_id: none, wat: 1 }, /has no wat/],
    [{ type: "submit", tool: "work", arguments: [] }, /arguments is not an object/],
    [{ type: "read", log_id: none, wait: null }, 404],
    [{ type: "submit", tool: "no-such-tool", arguments: null, editor: null, follow: null }, 404],
    [{ type: "unfollow", log_id: null }, 200],
  ];
  for (const [id, [message, expected]] of cases.entries()) {
    say({ id, ...message });
    const { status, body } = await answer(id);
    const what = JSON.stringify(message);
    if (typeof expected === "number") expect(status, what).toBe(expected);
    else {
      expect(status, what).toBe(400);
      expect(body.detail, what).toMatch(expected);
      expect(body.detail, what).not.toMatch(/Invalid input|invalid_/);
    }
  }
  for (const text of ["{", "[]", "null", '{"type":"read","id":true}']) {
    say(text);
    await next((message) => message.type === "answer" && message.status === 400 && !("id" in message), text);
  }
  say(`${BOM}{"type":"unfollow","id":"last"}`);
  expect(await answer("last")).toMatchObject({ status: 200 });
});
