/** MCP over standard input and output: one client, one process. */
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { Log } from "../../shared/log.js";
import { wellFormedJson } from "../../shared/printable.js";
import { createLineAssembler } from "../../shared/wire/framing.js";
import { LONGEST_MESSAGE, refusalOfLong } from "../../shared/wire/long-message.js";
import { createExchanges } from "../exchange.js";
import type { Gateway } from "../gateway.js";
import { createEditorSelection } from "./editor-selection.js";
import { openMcpSession } from "./mcp-session.js";
import type { ProgressOptions } from "./progress-notifier.js";
import { readMessage } from "./read-message.js";
import { createToolList } from "./tools/tool-list.js";

type StdioEnd = "input_ended" | "output_failed" | "closed";

export interface StdioService {
  /** Resolves with the reason once the client is gone and everything was written; never rejects. */
  closed: Promise<StdioEnd>;
  /** Answers open waits as if their time was over, then ends. */
  close(): Promise<void>;
}

export interface StdioOptions {
  principal?: string;
  /** The client's working folder: a call that names no Editor goes to the Editor of the project around it. */
  folder?: string;
  progress?: ProgressOptions;
  listDebounceMs?: number;
}

/** How long open requests may take to be answered when closing, ms. */
const CLOSE_DEADLINE_MS = 3_000;

/** Serves one client. Only protocol messages are written to `stdout`. */
export function serveStdio(
  deps: { gateway: Gateway; log: Log; version: string },
  streams: { stdin: Readable; stdout: Writable },
  options: StdioOptions = {},
): StdioService {
  const { stdin, stdout } = streams;
  const { log, version } = deps;
  const { broker, store, answers } = deps.gateway;
  const toolList = createToolList(
    { broker, notifier: store.notifier, log, waits: answers.waits },
    { debounceMs: options.listDebounceMs ?? 250 },
  );
  const gone = new AbortController();
  // Every open request adds a listener.
  setMaxListeners(0, gone.signal);
  // Only a write's callback says that it left the process.
  const writeLine = (text: string): Promise<boolean> =>
    gone.signal.aborted
      ? Promise.resolve(false)
      : new Promise((resolve) => stdout.write(`${text}\n`, (error) => resolve(!error)));
  const write = (message: JSONRPCMessage): Promise<boolean> => writeLine(wellFormedJson(message));
  const channel = { gone: gone.signal, isDirect: true, write, discard: async () => undefined };
  const exchanges = createExchanges({ deliveries: broker, log }, deps.gateway.replay);
  const lines = createLineAssembler(LONGEST_MESSAGE, (line) => void writeLine(refusalOfLong(line)));
  const heard = (text: string): void => {
    const read = readMessage(text);
    if ("message" in read) transport.onmessage?.(read.message);
    else log.debug({ error: read.refusal.error.message }, "a message of the client is refused");
    if ("refusal" in read && read.isAwaited) void write(read.refusal);
  };
  const take = (chunk: Buffer): void => {
    for (const line of lines.push(chunk)) if (line !== undefined) heard(line);
  };
  const transport: Transport = {
    start: async () => void stdin.on("data", take),
    send: async (message) => void (await write(message)),
    async close() {
      stdin.off("data", take).pause();
      transport.onclose?.();
    },
  };

  const session = openMcpSession(
    { broker, exchanges, toolList, log, version, answers, progress: options.progress },
    {
      principal: options.principal ?? "local",
      caller: { id: `stdio:${randomUUID()}`, transport: "stdio" },
      selection: createEditorSelection(),
      folder: options.folder,
    },
    {
      transport,
      notify: async (message) => {
        await write(message);
      },
      channelOf: () => channel,
    },
  );
  // Who read its first message paused it, and a listener alone does not start it again.
  stdin.resume();

  let reason: StdioEnd | undefined;
  const end = (why: StdioEnd): Promise<void> => {
    if (reason === undefined) {
      reason = why;
      log.debug({ reason }, "the stdio session ends");
      if (why !== "closed") session.inputEnded();
      if (why === "output_failed") gone.abort();
    }
    const ended = session.close(CLOSE_DEADLINE_MS);
    deps.gateway.stopWaiting();
    return ended;
  };
  const inputEnded = (): void => void end("input_ended");
  const outputFailed = (): void => void end("output_failed");
  stdin.once("end", inputEnded).once("close", inputEnded).once("error", inputEnded);
  // Never removed: a late EPIPE without a listener would end the process.
  stdout.on("error", outputFailed).on("close", outputFailed);

  const closed = session.closed.then(async () => {
    await exchanges.close(0);
    toolList.close();
    stdin.off("end", inputEnded).off("close", inputEnded);
    stdout.off("close", outputFailed);
    return reason ?? "closed";
  });
  return { closed, close: () => end("closed") };
}
