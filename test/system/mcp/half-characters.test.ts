/** Whatever cut or wrote a text, no surface tells a client half a surrogate pair. */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { createExchanges } from "../../../src/gateway/exchange.js";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { openPipeSession } from "../../../src/gateway/mcp/pipe/pipe-session.js";
import { BROKER_TOOLS } from "../../../src/gateway/mcp/tools/broker-tools.js";
import { createToolList } from "../../../src/gateway/mcp/tools/tool-list.js";
import { ANSWER_SETTINGS } from "../../../src/shared/answer-forms.js";
import { PIPE_PROTOCOL } from "../../../src/shared/pipe-frames.js";
import { WAITS } from "../../../src/shared/wait-time.js";
import { parameters, type SimulatedTool, toolFailure } from "../../../src/simulator/tool-definition.js";
import { HALVES, halvesIn, LONG_TEXTS } from "../../harness/half-characters.js";
import { openEventStream } from "../../harness/mcp/event-stream.js";
import {
  createLinePeer,
  createPipes,
  INITIALIZE,
  type Pipes,
  post,
  type RpcAnswer,
} from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { statelessHeaders, statelessRequest } from "../../harness/mcp/stateless.js";
import { restClient } from "../../harness/rest/rest-client.js";
import { useSocketClients } from "../../harness/rest/socket-client.js";
import { SILENT } from "../../harness/silent.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const { connect } = useSocketClients();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Ends what `tell` tells of. */
let release: () => void;

const SAID: Record<string, SimulatedTool["run"]> = {
  say: async () => ({ Text: HALVES, [HALVES]: LONG_TEXTS.map((text) => ({ [text]: text })) }),
  fail: async () => {
    throw toolFailure("halves", `${HALVES} ${LONG_TEXTS[0]}`);
  },
  show: async () => ({ content: LONG_TEXTS.map((text) => ({ type: "text", text: HALVES + text })) }),
  list: async () => ({
    [`${LONG_TEXTS[1]}`]: Array.from({ length: 30 }, (_, n) => ({ [`${n} ${HALVES}`]: LONG_TEXTS[n % 2] })),
  }),
  async tell({ progress, world }) {
    const ended = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (const text of LONG_TEXTS) world.log("Warning", HALVES + text);
    progress({ progress: 1, total: 2, message: HALVES + LONG_TEXTS[0], partialResult: { [HALVES]: HALVES } });
    await ended;
    return HALVES;
  },
};

const tools = Object.entries(SAID).map(
  ([name, run], at): SimulatedTool => ({
    name,
    run,
    description: `${LONG_TEXTS[at % 2]}\n${HALVES}`,
    inputSchema: parameters({ Text: { type: "string", description: HALVES } }),
    ...({ effect: "read_only", lane: "main", executionClass: "quick" } as const),
    ...{ resumable: false, cancellable: false, blocksMainThread: true },
  }),
);

type Request = [method: string, params: Record<string, unknown>];
const call = (name: string, args: Record<string, unknown> = {}): Request => [
  "tools/call",
  { name, arguments: args },
];

/** Each tool of the broker for each operation, and with a long text in each argument that takes one. */
function brokerCalls(ids: readonly string[], editor: string): Request[] {
  return [...BROKER_TOOLS.values()].flatMap(({ name, described }) => {
    const properties = (described(WAITS).inputSchema.properties ?? {}) as Record<string, { type?: string }>;
    const valid = (id: string): Record<string, unknown> => {
      const known = { log_id: id, cache_id: id, tool: "say", arguments: {}, editor };
      return Object.fromEntries(Object.entries(known).filter(([key]) => key in properties));
    };
    const texts = Object.keys(properties).filter((key) => properties[key]?.type === "string");
    return [
      ...ids.map((id) => call(name, valid(id))),
      ...texts.flatMap((key) =>
        [...LONG_TEXTS, HALVES].map((text) => call(name, { ...valid(ids[0] ?? ""), [key]: text })),
      ),
    ];
  });
}

/** What a client of MCP can ask, also wrongly. */
function requests(ids: readonly string[], editor: string): Request[] {
  const texts = [...LONG_TEXTS, HALVES];
  return [
    ["tools/list", {}],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["prompts/list", {}],
    ...["results", "operations"].flatMap((kind) =>
      ids.map((id): Request => ["resources/read", { uri: `unity-broker://${kind}/${id}` }]),
    ),
    ...["editors", `editors/${editor}`, "operations"].map(
      (path): Request => ["resources/read", { uri: `unity-broker://${path}` }],
    ),
    ...ids.flatMap((id): Request[] => [
      ["tools/result", { log_id: id }],
      ["tools/progress", { log_id: id }],
      ["tasks/get", { taskId: id }],
      ["tasks/result", { taskId: id }],
    ]),
    ["tools/call_async", { name: "say", arguments: {} }],
    ...Object.keys(SAID).flatMap((name) => (name === "tell" ? [] : [call(name)])),
    ...texts.flatMap((text): Request[] => [
      call(text),
      call("say", { Text: text }),
      call("say", { [text]: 1 }),
      call("say", { timeout: text }),
      call("say", { editor: text }),
      ["prompts/get", { name: text }],
      ["prompts/get", { name: "after_a_timeout", arguments: { log_id: text } }],
      ["resources/read", { uri: text }],
      ["logging/setLevel", { level: text }],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: text }, argument: { name: text, value: "" } },
      ],
      ["tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": text } }],
      [text, {}],
    ]),
    ...brokerCalls(ids, editor),
  ];
}

/** One way of a client to the broker. */
interface Surface {
  /** What was said to it so far. */
  heard: unknown[];
  /** Resolves when it is answered. */
  ask(id: number, request: Request): Promise<unknown>;
  /** The same for a call that is released when a message like this has come. */
  tell(id: number, request: Request, isSeen: (heard: RpcAnswer) => boolean): Promise<unknown>;
}

const READY = { jsonrpc: "2.0", method: "notifications/initialized" };

async function byLines(pipes: Pipes): Promise<Surface> {
  const peer = createLinePeer(pipes);
  peer.send(INITIALIZE, READY, {
    jsonrpc: "2.0",
    id: "log",
    method: "logging/setLevel",
    params: { level: "debug" },
  });
  await peer.answer("log");
  const send = (id: number, [method, params]: Request): void =>
    peer.send({ jsonrpc: "2.0", id, method, params });
  return {
    heard: peer.received,
    ask(id, request) {
      send(id, request);
      return peer.answer(id);
    },
    async tell(id, request, isSeen) {
      send(id, request);
      await peer.next(isSeen);
      release();
      return peer.answer(id);
    },
  };
}

function byStdio({ gateway }: System): Promise<Surface> {
  const pipes = createPipes();
  const service = serveStdio({ gateway, log: SILENT, version: "0" }, pipes);
  closers.push(service.close);
  return byLines(pipes);
}

/** The session of a pipe whose broker is this process. */
function byPipe({ gateway: { broker, store } }: System): Promise<Surface> {
  const pipes = createPipes();
  const gone = new AbortController();
  const toolList = createToolList(
    { broker, notifier: store.notifier, log: SILENT, waits: WAITS },
    { debounceMs: 10 },
  );
  const session = openPipeSession(
    {
      broker,
      exchanges: createExchanges({ deliveries: broker, log: SILENT }),
      toolList,
      log: SILENT,
      version: "0",
      answers: { ...ANSWER_SETTINGS, form: "full" },
    },
    {
      send(header, text) {
        if (header.kind !== "message") return;
        pipes.stdout.write(`${text}\n`);
        setImmediate(() => session.heard({ header: { kind: "written", n: header.n }, text: "" }));
      },
      end: () => gone.abort(),
      gone: gone.signal,
    },
    {
      kind: "hello",
      protocol: PIPE_PROTOCOL,
      version: "0",
      session: randomUUID(),
      pid: 1,
      folder: "/",
      isResumed: false,
    },
  );
  let n = 0;
  createInterface({ input: pipes.stdin }).on("line", (text) => {
    n += 1;
    session.heard({ header: { kind: "message", n }, text });
  });
  closers.push(toolList.close, session.close);
  return byLines(pipes);
}

/** `opened`: what a request is in this revision. */
function byHttp(
  url: string,
  opened: (id: number, request: Request) => { message: object; headers: Record<string, string> },
): Surface {
  const heard: unknown[] = [];
  return {
    heard,
    async ask(id, request) {
      const { message, headers } = opened(id, request);
      heard.push(...(await post(url, message, { headers })).messages);
    },
    async tell(id, request, isSeen) {
      const { message, headers } = opened(id, request);
      const stream = await openEventStream(url, headers, message);
      await stream.next((event) => event.message !== undefined && isSeen(event.message));
      release();
      await stream.next((event) => event.message?.id === id);
      heard.push(...stream.events);
    },
  };
}

async function bySession({ gateway }: System): Promise<Surface> {
  const { url } = await serve(gateway);
  const headers = { "mcp-session-id": (await post(url, INITIALIZE)).sessionId ?? "" };
  await post(url, READY, { headers });
  return byHttp(url, (id, [method, params]) => ({
    message: { jsonrpc: "2.0", id, method, params },
    headers,
  }));
}

async function stateless({ gateway }: System): Promise<Surface> {
  const { url } = await serve(gateway);
  return byHttp(url, (id, [method, params]) => {
    const message = statelessRequest(method, params, { id });
    const all = Object.entries(statelessHeaders(message));
    // A header has no emoji: what lacks one is refused, in words that are looked at too.
    return { message, headers: Object.fromEntries(all.filter(([, value]) => /^[ -~]*$/.test(value))) };
  });
}

/** Of the tool itself: it waits to be released. */
const isProgress = ({ method, params }: RpcAnswer): boolean =>
  method === "notifications/progress" && (params as { total?: number }).total === 2;

/** Operations of each kind: their results, failures and lists. */
async function endedIn(system: System): Promise<string[]> {
  const client = system.client("local", null);
  const ids: string[] = [];
  for (const name of ["say", "fail", "show", "list"]) {
    const { record } = await client.submit(name);
    await client.outcome(record.logId);
    ids.push(record.logId);
  }
  return ids;
}

function expectWhole(heard: unknown): void {
  expect(halvesIn(heard)).toEqual([]);
  const text = JSON.stringify(heard);
  expect(text, "halves came, and were repaired").toContain("\ufffd two halves \ufffd");
  expect(text, "texts were cut").toContain("😀…");
  expect(text, "between characters").not.toContain("😀\ufffd");
}

test.each([
  ["stdio", byStdio],
  ["the pipe of a client", byPipe],
  ["HTTP", bySession],
  ["HTTP of 2026-07-28", stateless],
])("every answer, list, prompt, resource and report over %s", async (_name, open) => {
  const system = await start({ editor: { tools } });
  const surface = await open(system);
  const ids = await endedIn(system);
  let id = 0;
  for (const request of requests(ids, system.editor.editorId)) {
    id += 1;
    await surface.ask(id, request);
  }
  const told: Request = ["tools/call", { name: "tell", arguments: {}, _meta: { progressToken: "p" } }];
  await surface.tell(id + 1, told, isProgress);
  expectWhole(surface.heard);
});

test("every route, event and message of the REST API", async () => {
  const system = await start({ editor: { tools } });
  const { url } = await serve(system.gateway);
  const { origin } = new URL(url);
  const rest = restClient(origin);
  const ids = await endedIn(system);
  const heard: unknown[] = [];
  const texts = [...LONG_TEXTS, "\ufffd"];
  const paths = [
    ...[
      "/operations",
      "/editors",
      "/tools",
      "/pools",
      "/workers",
      "/clients",
      "/me",
      "/audit",
      "/openapi.json",
    ],
    ...[`/editors/${system.editor.editorId}`, "/tools/say", "/tools/fail"],
    ...ids.flatMap((id) =>
      ["", "/history", "/log", "/result", "/result?page=1", "/result?jq=."].map(
        (part) => `/operations/${id}${part}`,
      ),
    ),
    ...texts
      .map(encodeURIComponent)
      .flatMap((text) => [
        `/${text}`,
        ...["operations", "editors", "tools"].map((kind) => `/${kind}/${text}`),
        ...["state", "tool", "editor", "before", "limit"].map((name) => `/operations?${name}=${text}`),
        `/operations/${text}/result`,
        `/operations/${ids[3]}/result?path=${text}`,
        `/operations/${ids[3]}/result?fields=${text}`,
      ]),
  ];
  for (const path of paths) heard.push((await rest.get(path)).body);
  const socket = await connect(origin);
  const bodies = [
    ...Object.keys(SAID).flatMap((tool) => (tool === "tell" ? [] : [{ tool, arguments: {} }])),
    ...[...LONG_TEXTS, HALVES].flatMap((text) => [
      { tool: text, arguments: {} },
      { tool: "say", arguments: { Text: text } },
      { tool: "say", arguments: { [text]: text } },
      { tool: "say", arguments: {}, timeout: text },
      { tool: "say", arguments: {}, editor: text },
      { [text]: text },
    ]),
  ];
  for (const [at, body] of bodies.entries()) {
    heard.push((await rest.post("/operations", body)).body);
    socket.say({ type: "submit", id: at, ...body });
    await socket.next(() => socket.heard.filter(({ type }) => type === "answer").length > at, `answer ${at}`);
  }
  for (const text of [...LONG_TEXTS, HALVES]) socket.say({ type: text, log_id: text });
  const { log_id: logId } = (await rest.post("/operations", { tool: "tell", arguments: {}, timeout: 0 }))
    .body;
  socket.say({ type: "follow", id: "one", log_id: logId });
  const stream = await openEventStream(`${origin}/api/v1/operations/${logId}/events`, {});
  for (const event of ["partial", "log"]) {
    await socket.event(event);
    await stream.next((one) => one.event === event);
  }
  release();
  await socket.event("ended");
  await stream.ended;
  heard.push(socket.heard, stream.events);
  expectWhole(heard);
});
