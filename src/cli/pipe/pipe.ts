/**
 * A client's pipe: carries what it says on its standard streams to the broker, and back. The session outlives the broker:
 * when that dies the pipe has it started again, and sends what was not answered once more, under the same numbers.
 *
 * Its order is that of a process which serves MCP itself (▲7): what was written to the client is acknowledged before
 * anything is handed on that was read after it. Loads no MCP, no Redis and no configuration: a client waits for it to start.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { createArrivalClock } from "../../shared/pipe/arrival-clock.js";
import { type Frame, PIPE_PROTOCOL, type ToBroker, type ToPipe } from "../../shared/pipe/frames.js";
import { createLineAssembler } from "../../shared/wire/line-assembler.js";
import { RPC_INTERNAL_ERROR } from "../../shared/wire/rpc.js";
import { createSentMessages, type SentMessage } from "./sent-messages.js";
import { readFrames, writeFrame } from "./socket-line.js";

export interface PipeEnd {
  /** `failed`: the broker could not serve; `error` says why. */
  reason: "input_ended" | "output_failed" | "unreadable_input" | "asked" | "failed";
  error?: Error;
}

export interface Pipe {
  /** Resolves once the client is gone, or was told everything; never rejects. */
  readonly closed: Promise<PipeEnd>;
  /** Resolves with the store's id once the broker has opened it; never if it cannot. */
  readonly storeId: Promise<string>;
  /** Open waits are answered as if their time was over, then it ends. */
  close(): void;
}

export interface PipeOptions {
  version: string;
  /** The client's working folder. */
  folder: string;
  /** Connects to a broker that may have to be started (reach-broker.ts). */
  connect(): Promise<Socket>;
  closeMs?: number;
}

/** A client's message is not longer, UTF-16 units; that is where MCP's own servers give up. */
const LONGEST_MESSAGE = 10 * 1024 * 1024;

/** How long the rest may take once the client has gone, ms: longer than the broker gives it. */
const CLOSE_MS = 6_000;

/** Brokers that die one after another, each soon after its start: no more are started until the client asks again. */
const MOST_DEATHS = 5;
const SOON_MS = 10_000;

export function createPipe(
  options: PipeOptions,
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
): Pipe {
  const session = randomUUID();
  const clock = createArrivalClock();
  const lines = createLineAssembler(LONGEST_MESSAGE);
  const sent = createSentMessages();
  /** Read while there was no connection. */
  let unsent: SentMessage[] = [];
  let count = 0;
  let selected: string | undefined;
  let socket: Socket | undefined;
  let isConnecting = false;
  /** The broker has ended in order: the next message starts another. */
  let isDormant = false;
  let hadBroker = false;
  let deaths: number[] = [];
  let ending: { end: PipeEnd; ask: "end" | "close" } | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let isOver = false;
  let over: (end: PipeEnd) => void = () => undefined;
  let opened: (storeId: string) => void = () => undefined;
  const closed = new Promise<PipeEnd>((resolve) => {
    over = resolve;
  });
  const storeId = new Promise<string>((resolve) => {
    opened = resolve;
  });

  const finish = (end: PipeEnd): void => {
    if (isOver) return;
    isOver = true;
    clock.close();
    clearTimeout(deadline);
    stdin.off("data", read).off("end", inputEnded).off("close", inputEnded).off("error", inputEnded);
    socket?.destroy();
    over(end);
  };

  const send = (message: SentMessage): void => {
    const { n, sentAt, text } = message;
    if (socket) writeFrame(socket, { kind: "message", n, sentAt }, text);
    else unsent.push(message);
  };

  const write = (text: string, written: () => void): void => {
    stdout.write(`${text}\n`, (error) => (error ? finish({ reason: "output_failed" }) : written()));
  };

  const heard = (from: Socket, { header, text }: Frame<ToPipe>): void => {
    const say = (answer: ToBroker): void => writeFrame(from, answer);
    switch (header.kind) {
      case "message": {
        const { n, answers } = header;
        // An answer to the greeting that was said once more: the client has it.
        if (answers !== undefined && !sent.isOpen(answers)) return say({ kind: "written", n });
        return write(text, () => {
          if (answers !== undefined) sent.ended(answers);
          say({ kind: "written", n });
        });
      }
      case "dropped":
        return sent.ended(header.answers);
      case "selected":
        selected = header.editor;
        return;
      case "ready":
        return opened(header.storeId);
      case "failed":
        return refuse(new Error(header.message));
      case "ended":
        isDormant = true;
    }
  };

  const connected = (next: Socket): void => {
    if (isOver) return void next.destroy();
    socket = next;
    isDormant = false;
    const isResumed = hadBroker;
    // So that the numbers that this broker acknowledges are later than all that the one before it did.
    if (isResumed) count += 1;
    hadBroker = true;
    readFrames<ToPipe>(next, (frame) => heard(next, frame));
    next.on("error", () => undefined);
    next.once("close", () => lost(next));
    const { version, folder } = options;
    const hello = { protocol: PIPE_PROTOCOL, version, session, pid: process.pid, folder, count, isResumed };
    writeFrame(next, { kind: "hello", ...hello, ...(selected === undefined ? {} : { selected }) });
    const waiting = unsent;
    unsent = [];
    const repeated = isResumed ? sent.toRepeat() : [];
    const again = new Set(repeated.map(({ n }) => n));
    for (const message of repeated) send(message);
    for (const message of waiting) if (!again.has(message.n)) send(message);
    if (ending) writeFrame(next, { kind: ending.ask });
  };

  const lost = (last: Socket): void => {
    if (socket !== last) return;
    socket = undefined;
    if (isOver) return;
    const isIdle = unsent.length === 0 && sent.open().length === 0;
    if (ending && (isDormant || isIdle)) return finish(ending.end);
    if (isDormant && isIdle) return;
    if (!isDormant) deaths = [...deaths, performance.now()].slice(-MOST_DEATHS);
    const [first] = deaths;
    if (deaths.length === MOST_DEATHS && first !== undefined && performance.now() - first < SOON_MS) {
      deaths = [];
      return refuse(new Error("The broker ended again and again: see `unity-broker doctor`."));
    }
    connect();
  };

  /** No broker serves now: open requests are answered so, and the next message tries again. */
  const refuse = (error: Error): void => {
    isDormant = true;
    unsent = [];
    process.stderr.write(`unity-broker: ${error.message}\n`);
    for (const { n, id } of sent.open()) {
      sent.ended(n);
      const answer = { jsonrpc: "2.0", id: JSON.parse(id), error: { code: RPC_INTERNAL_ERROR, message: error.message } };
      write(JSON.stringify(answer), () => undefined);
    }
    if (ending) finish(ending.end);
  };

  const connect = (): void => {
    if (isConnecting || socket || isOver) return;
    isConnecting = true;
    options
      .connect()
      .finally(() => {
        isConnecting = false;
      })
      .then(connected, (error: Error) => {
        if (isOver) return;
        if (hadBroker) refuse(error);
        else finish(ending?.end ?? { reason: "failed", error });
      });
  };

  const taken = (text: string, sentAt: SentMessage["sentAt"]): void => {
    count += 1;
    const message = { n: count, sentAt, text };
    sent.sent(message);
    send(message);
    if (!socket) connect();
  };

  function read(chunk: Buffer): void {
    const sentAt = clock.arrival();
    const messages = lines.push(chunk);
    // The client may have sent it because of an answer whose write has not called back yet.
    setImmediate(() => {
      for (const text of messages) {
        if (text === undefined) return endWith({ reason: "unreadable_input" }, "end");
        taken(text, sentAt);
      }
    });
  }

  const endWith = (end: PipeEnd, ask: "end" | "close"): void => {
    if (ending || isOver) return;
    ending = { end, ask };
    deadline = setTimeout(() => finish(end), options.closeMs ?? CLOSE_MS);
    if (socket) writeFrame(socket, { kind: ask });
    // Before its first connection it has something to hand on.
    else if (!isConnecting) finish(end);
  };

  // After the messages that were read before.
  function inputEnded(): void {
    setImmediate(() => endWith({ reason: "input_ended" }, "end"));
  }

  stdin.on("data", read).once("end", inputEnded).once("close", inputEnded).once("error", inputEnded);
  // Never removed: a late EPIPE without a listener would end the process.
  stdout.on("error", () => finish({ reason: "output_failed" })).on("close", () => finish({ reason: "output_failed" }));
  connect();

  return { closed, storeId, close: () => endWith({ reason: "asked" }, "close") };
}
