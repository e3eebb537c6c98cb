/**
 * A client's pipe: carries what it says on its standard streams to the broker, and back.
 *
 * Loads no MCP, no Redis and no configuration: a client waits for it to start.
 *
 * Clients ask which revisions a server speaks, some in a process of its own that they end at once: that is answered here, and
 * starts no broker.
 */
import type { Readable, Writable } from "node:stream";
import { discoverAnswer } from "../../gateway/mcp/revision-2026/discovery.js";
import { REPLAY_DEFAULTS } from "../../shared/operation/again.js";
import { createStallWatch, type WaitLimits } from "../../shared/wait-time.js";
import { LONGEST_MESSAGE, refusalOfLong } from "../../shared/wire/long-message.js";
import { createLineAssembler, RPC_INTERNAL_ERROR } from "../../shared/wire/rpc.js";
import { type BrokerLinkOptions, createBrokerLink } from "./broker-link.js";
import { SILENT_MS } from "./probe.js";

export interface PipeEnd {
  /** `failed`: no broker could be had; `error` says why. */
  reason: "input_ended" | "output_failed" | "asked" | "failed";
  error?: Error;
}

export interface Pipe {
  /** Resolves once the client is gone, or has received everything; never rejects. */
  readonly closed: Promise<PipeEnd>;
  /** Resolves with the store's id once the broker has opened it; rejects if it cannot. */
  readonly storeId: Promise<string>;
  /** Open waits are answered as if their time was over, then it ends. */
  close(): void;
}

export interface PipeOptions extends BrokerLinkOptions {
  /** How long the rest may take once the client has gone, ms: longer than the broker gives it. */
  closeMs?: number;
  /** As the broker has them, which is not asked. */
  waits: WaitLimits;
  /** What a person should read, if the client shows it. */
  say?(text: string): void;
}

export function createPipe(
  options: PipeOptions,
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
): Pipe {
  const { closeMs = 6_000, say = () => undefined } = options;
  const stalls = createStallWatch(REPLAY_DEFAULTS);
  const lines = createLineAssembler(LONGEST_MESSAGE, (line) => write(refusalOfLong(line)));
  let ending: PipeEnd | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let over: (end: PipeEnd) => void = () => undefined;
  let opened: (storeId: string) => void = () => undefined;
  let notOpened: (error: Error) => void = () => undefined;
  const closed = new Promise<PipeEnd>((resolve) => {
    over = resolve;
  });
  const storeId = new Promise<string>((resolve, reject) => {
    opened = resolve;
    notOpened = reject;
  });
  storeId.catch(() => undefined);

  const finish = (end: PipeEnd): void => {
    stalls.close();
    clearTimeout(silence);
    clearTimeout(deadline);
    stdin.off("data", read).off("end", inputEnded).off("close", inputEnded).off("error", inputEnded);
    link.destroy();
    over(end);
  };
  const outputFailed = (): void => finish({ reason: "output_failed" });

  const write = (text: string, written: () => void = () => undefined): void => {
    stdout.write(`${text}\n`, (error) => (error ? outputFailed() : written()));
  };

  const link = createBrokerLink(options, {
    onMessage: write,
    onStore: opened,
    onRefused(error, given, isFinal) {
      notOpened(error);
      if (isFinal) {
        finish(ending ?? { reason: "failed", error });
        return;
      }
      say(error.message);
      for (const { id } of given) write(refusal(id, error.message));
    },
    onEnded: () => finish(ending ?? { reason: "asked" }),
  });

  const end = (how: "end" | "close", why: PipeEnd): void => {
    if (ending) return;
    ending = why;
    deadline = setTimeout(() => finish(why), closeMs);
    link.end(how);
  };

  function read(chunk: Buffer): void {
    const now = performance.now();
    const arrivedAt = stalls.hasStalledSince(now) ? Number.NEGATIVE_INFINITY : now;
    const messages = lines.push(chunk);
    // The client may have sent it because of an answer whose write has not called back yet.
    setImmediate(() => {
      for (const text of messages) if (text !== undefined && !ending) heard(text, arrivedAt);
    });
  }

  let isHeard = false;
  const startUnheard = (): void => {
    if (!isHeard) link.start();
  };
  const silence = setTimeout(startUnheard, SILENT_MS);

  function heard(line: string, arrivedAt: number): void {
    // Some begin with a byte order mark.
    const text = line.replace(/^\uFEFF/, "");
    const discovered = discoverAnswer(text, options);
    isHeard = true;
    if (discovered) write(JSON.stringify(discovered));
    else link.send({ n: link.next(), arrivedAt, text });
  }

  function inputEnded(): void {
    // Behind the messages that were read before.
    setImmediate(() => {
      startUnheard();
      end("end", { reason: "input_ended" });
    });
  }

  stdin.on("data", read).once("end", inputEnded).once("close", inputEnded).once("error", inputEnded);
  // Never removed: a late EPIPE without a listener would end the process.
  stdout.on("error", outputFailed).on("close", outputFailed);

  return { closed, storeId, close: () => end("close", { reason: "asked" }) };
}

function refusal(id: string, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(id), error: { code: RPC_INTERNAL_ERROR, message } });
}
