/**
 * Coding assistants as they were recorded in November 2026, each with a scripted model: the ids, the messages of a session's beginning,
 * what stands beside a call, and what follows it. A peer sends that and nothing else; when, the test says.
 */
import { randomUUID } from "node:crypto";
import type { Answer } from "../../../src/shared/operation/answer.js";
import type { RunningProcess } from "../processes/processes.js";
import { answerIn } from "./answer-in.js";
import { type EventStream, openEventStream, type ServerEvent } from "./event-stream.js";
import { cancelOf, type Posted, post, type RpcAnswer } from "./mcp.js";
import { checkMessageSize } from "./message-size.js";
import { REVISION } from "./stateless.js";

/** What one client sends. */
export interface Recording {
  /** Name and version. */
  name: string;
  /** The requests before the first call, from id 0 on; the first opens the session. */
  opening: { method: string; params?: Record<string, unknown> }[];
  /** Does the first one open a session? Else each request stands alone (2026-07-28), and none says that it is initialised. */
  hasSession: boolean;
  /** `_meta` of a call. */
  meta(id: number): Record<string, unknown>;
  /** Why it cancels a call whose time is over; undefined: it was not seen to. */
  timedOut?: string;
  /** Why it cancels a call whose user pressed Esc; undefined: it was not seen to. */
  escaped?: string;
  /** Why it cancels each call after its answer; undefined: it does not. */
  afterAnswer?: string;
}

const initialize = (protocolVersion: string, capabilities: object, clientInfo: object) => ({
  method: "initialize",
  params: { protocolVersion, capabilities, clientInfo },
});

/** Of the SDK for TypeScript. */
const SDK_TIMED_OUT = "McpError: MCP error -32001: Request timed out";

export const CLAUDE_CODE: Recording = {
  name: "Claude Code 2.1.197",
  opening: [
    initialize(
      "2025-11-25",
      { roots: {}, elicitation: {} },
      {
        name: "claude-code",
        title: "Claude Code",
        version: "2.1.197",
        description: "Anthropic's agentic coding tool",
        websiteUrl: "https://claude.com/claude-code",
      },
    ),
    { method: "tools/list" },
    { method: "prompts/list" },
    { method: "resources/list" },
  ],
  hasSession: true,
  meta: (id) => ({ "claudecode/toolUseId": `toolu_${id}`, progressToken: id }),
  timedOut: SDK_TIMED_OUT,
  escaped: "AbortError: user-cancel",
};

export const OPENCODE: Recording = {
  name: "opencode 1.18.33",
  opening: [
    initialize("2025-11-25", { roots: {} }, { name: "opencode", version: "1.18.33" }),
    { method: "tools/list" },
  ],
  hasSession: true,
  meta: (id) => ({ progressToken: id }),
  timedOut: SDK_TIMED_OUT,
  escaped: "AbortError: The operation was aborted.",
  afterAnswer: "AbortError: The operation was aborted.",
};

const codexThread = randomUUID();
/** Its own limit and its user's interrupt read the same. */
const CODEX_CANCELLED = "MCP request cancelled by caller";

export const CODEX: Recording = {
  name: "Codex 0.171.0",
  opening: [
    initialize(
      "2025-06-18",
      { experimental: { "codex/auth-change": {} }, elicitation: { form: {}, url: {} } },
      { name: "codex-mcp-client", title: "Codex", version: "0.171.0" },
    ),
    { method: "tools/list", params: { _meta: { progressToken: 0 } } },
  ],
  hasSession: true,
  meta: (id) => ({
    callId: `call_${id - 1}`,
    "x-codex-turn-metadata": { session_id: codexThread, thread_source: "user", sandbox: "none" },
    threadId: codexThread,
    sessionId: codexThread,
    windowId: `${codexThread}:0`,
    itemId: `fc${id - 1}`,
    progressToken: id - 1,
  }),
  timedOut: CODEX_CANCELLED,
  escaped: CODEX_CANCELLED,
};

export const GEMINI_CLI: Recording = {
  name: "Gemini CLI 0.61.0",
  opening: [
    initialize(
      "2025-06-18",
      { roots: { listChanged: true } },
      { name: "gemini-cli-mcp-client", version: "0.61.0" },
    ),
    { method: "prompts/list", params: {} },
    { method: "tools/list", params: {} },
    { method: "resources/list", params: {} },
  ],
  hasSession: true,
  meta: () => ({ progressToken: randomUUID() }),
  timedOut: SDK_TIMED_OUT,
};

const COPILOT_SELF = {
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientInfo": { name: "copilot-cli", version: "1.0.102" },
  "io.modelcontextprotocol/clientCapabilities": { sampling: {}, elicitation: { form: {}, url: {} } },
};

export const COPILOT_CLI: Recording = {
  name: "Copilot CLI 1.0.102",
  opening: [
    { method: "server/discover", params: { _meta: COPILOT_SELF } },
    {
      method: "subscriptions/listen",
      params: { _meta: { ...COPILOT_SELF, progressToken: 0 }, notifications: { toolsListChanged: true } },
    },
    { method: "tools/list", params: { _meta: { ...COPILOT_SELF, progressToken: 1 } } },
  ],
  hasSession: false,
  meta: (id) => ({ ...COPILOT_SELF, progressToken: id - 1 }),
};

/** One call under way. */
export interface SentCall {
  readonly id: number;
  /** As the model reads it; rejects if its way is lost first. */
  readonly answer: Promise<Answer>;
}

/** One life of a client. */
export interface RecordedPeer {
  readonly recording: Recording;
  /** Sends a call. */
  ask(tool: string, args: Record<string, unknown>): SentCall;
  /** The same, reads its answer, and sends what this client sends after it. */
  call(tool: string, args: Record<string, unknown>): Promise<Answer>;
  /** Its own time for this call is over: it cancels it. */
  timesOut(call: SentCall): Promise<void>;
  /** Its user presses Esc, during the call or after its answer. */
  escapes(call: SentCall): Promise<void>;
  /** It ends without a word. */
  kill(): Promise<void>;
}

/** The way of one peer's messages. */
interface Way {
  send(message: Record<string, unknown> & { id?: number }): Promise<RpcAnswer>;
  cancel(id: number, reason: string): Promise<void>;
  kill(): Promise<void>;
}

async function open(recording: Recording, way: Way): Promise<RecordedPeer> {
  const { opening, hasSession, meta } = recording;
  let nextId = 0;
  const request = (method: string, params?: Record<string, unknown>) => {
    const id = nextId;
    nextId += 1;
    const answer = way.send({ method, ...(params ? { params } : {}), jsonrpc: "2.0", id });
    // Of one that is killed nobody may wait any more.
    answer.catch(() => undefined);
    return { id, answer };
  };
  const [first, ...others] = opening.map(
    ({ method, params }) =>
      () =>
        request(method, params),
  );
  await first?.().answer;
  if (hasSession) await way.send({ method: "notifications/initialized", jsonrpc: "2.0" });
  const asked = others.map((ask) => ask().answer);
  // A listener is answered when it ends.
  await Promise.all(hasSession ? asked : asked.slice(1));
  const ask: RecordedPeer["ask"] = (name, args) => {
    const { id, answer } = request("tools/call", { name, arguments: args, _meta: meta(nextId) });
    const read = answer.then(({ result, error }) => {
      if (error) throw new Error(`JSON-RPC error ${error.code}: ${error.message}`);
      return answerIn<Answer>(result);
    });
    read.catch(() => undefined);
    return { id, answer: read };
  };
  const cancel = (id: number, reason: string | undefined): Promise<void> => {
    if (reason === undefined) throw new Error(`${recording.name} was not seen to cancel for that`);
    return way.cancel(id, reason);
  };
  return {
    recording,
    ask,
    async call(tool, args) {
      const { id, answer } = ask(tool, args);
      const read = await answer;
      if (recording.afterAnswer !== undefined) await cancel(id, recording.afterAnswer);
      return read;
    },
    timesOut: ({ id }) => cancel(id, recording.timedOut),
    escapes: ({ id }) => cancel(id, recording.escaped),
    kill: way.kill,
  };
}

/** A client that has started this process and speaks to it on its standard streams. */
export function overStdio(recording: Recording, served: RunningProcess): Promise<RecordedPeer> {
  const waiting = new Map<number, { resolve(answer: RpcAnswer): void; reject(error: Error): void }>();
  const write = (message: object): void => served.write(`${JSON.stringify(message)}\n`);
  served.onLine((line) => {
    checkMessageSize(Buffer.byteLength(line));
    const message = JSON.parse(line) as RpcAnswer;
    if (message.method === "roots/list")
      write({ result: { roots: [{ uri: "file:///" }] }, jsonrpc: "2.0", id: message.id });
    if (message.method !== undefined || typeof message.id !== "number") return;
    waiting.get(message.id)?.resolve(message);
    waiting.delete(message.id);
  });
  void served.ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${served.name} ended`));
  });
  return open(recording, {
    async send(message) {
      const { id } = message;
      write(message);
      if (id === undefined) return {};
      const answer = new Promise<RpcAnswer>((resolve, reject) => waiting.set(id, { resolve, reject }));
      answer.catch(() => undefined);
      return answer;
    },
    cancel: async (id, reason) => write(cancelOf(id, reason)),
    kill: async () => void (await served.kill("SIGKILL")),
  });
}

export interface HttpPeer extends RecordedPeer {
  /** Loses the connection of this call and takes its stream up again with `Last-Event-ID`. */
  reconnects(call: SentCall): Promise<SentCall>;
}

const isAnswerTo =
  (id: number | undefined) =>
  ({ message }: ServerEvent): boolean =>
    message !== undefined && message.method === undefined && message.id === id;

/** A client of Streamable HTTP: in a session, or each request for itself. `headers`: what a proxy adds to each request. */
export async function overHttp(
  recording: Recording,
  url: string,
  headers: Record<string, string> = {},
): Promise<HttpPeer> {
  const { hasSession } = recording;
  const streams = new Map<number, EventStream>();
  let session: Record<string, string> = {};
  const headersOf = ({ method, params }: Record<string, unknown>): Record<string, string> => {
    if (hasSession) return { ...headers, ...session };
    const { name } = (params ?? {}) as { name?: string };
    return {
      ...headers,
      "mcp-method": String(method),
      "mcp-protocol-version": REVISION,
      ...(name === undefined ? {} : { "mcp-name": name }),
    };
  };
  const notify = (message: object): Promise<Posted> =>
    post(url, message, { headers: headersOf({ ...message }) });
  const listening: EventStream[] = [];

  const send = async (message: Record<string, unknown> & { id?: number }): Promise<RpcAnswer> => {
    const { id, method } = message;
    if (id === undefined) {
      await notify(message);
      if (method === "notifications/initialized") listening.push(await openEventStream(url, headersOf({})));
      return {};
    }
    if (method === "initialize") {
      const { sessionId, messages } = await post(url, message, { headers });
      session = { "mcp-session-id": sessionId ?? "", "mcp-protocol-version": protocolOf(message) };
      return messages.at(-1) ?? {};
    }
    if (method !== "tools/call" && method !== "subscriptions/listen")
      return (await post(url, message, { headers: headersOf(message) })).messages.at(-1) ?? {};
    const stream = await openEventStream(url, headersOf(message), message);
    streams.set(id, stream);
    return (await stream.next(isAnswerTo(id))).message ?? {};
  };

  const peer = await open(recording, {
    send,
    cancel: async (id, reason) => void (await notify(cancelOf(id, reason))),
    async kill() {
      for (const stream of [...streams.values(), ...listening]) stream.cut();
    },
  });
  return {
    ...peer,
    async reconnects({ id }) {
      const stream = streams.get(id);
      if (!stream) throw new Error(`no stream of request ${id}`);
      const last = stream.events.filter((event) => event.id !== undefined).at(-1);
      stream.cut();
      const resumed = await openEventStream(url, { ...headersOf({}), "last-event-id": last?.id ?? "" });
      streams.set(id, resumed);
      const answer = resumed.next(isAnswerTo(id)).then(({ message }) => answerIn<Answer>(message?.result));
      answer.catch(() => undefined);
      return { id, answer };
    },
  };
}

function protocolOf({ params }: Record<string, unknown>): string {
  return (params as { protocolVersion: string }).protocolVersion;
}
