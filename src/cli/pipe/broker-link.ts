/**
 * Keeps one client's session alive across broker restarts: when the broker dies, has it started again and sends the
 * unanswered requests once more, under the same numbers.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { type Frame, PIPE_PROTOCOL, type ToPipe } from "../../shared/pipe-frames.js";
import { BrokerNotStarted } from "./not-started.js";
import { createSentMessages, type SentMessage, type SentMessages } from "./sent-messages.js";
import { readFrames, writeFrame } from "./socket-line.js";

// Does the broker of a connection still answer? One that is stopped or hangs keeps its socket: without this its clients
// would wait for it for ever. Counts its own looks instead of time, so that a machine's sleep or load is not the broker's.

interface AnswerWatch {
  /** Call it with whatever the broker sends. */
  heard(): void;
  /** Call it when the client begins to wait for the broker: it watches until `isExpecting` says no. */
  expectAnswer(): void;
  close(): void;
}

/** Between two looks, ms. */
const LOOK_MS = 3_000;
/** A broker that left so many pings in a row unanswered counts as hung. */
const MOST_SILENT = 3;

export interface AnswerWatchOptions {
  /** Does the client still wait for the broker? */
  isExpecting(): boolean;
  /** Called once it has not answered for long. */
  silent(): void;
  lookMs?: number | undefined;
}

/** Each look asks the broker for a sign of life. */
function createAnswerWatch(
  socket: Socket,
  { isExpecting, silent, lookMs = LOOK_MS }: AnswerWatchOptions,
): AnswerWatch {
  let timer: NodeJS.Timeout | undefined;
  let looks = 0;

  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    looks = 0;
  };
  const look = (): void => {
    if (!isExpecting()) stop();
    else if (looks === MOST_SILENT) {
      stop();
      silent();
    } else {
      looks += 1;
      writeFrame(socket, { kind: "ping" });
    }
  };

  return {
    heard() {
      looks = 0;
    },
    expectAnswer() {
      timer ??= setInterval(look, lookMs);
    },
    close: stop,
  };
}

export interface BrokerLink {
  /** Has a broker started, if none runs; so does the first message. */
  start(): void;
  /** Hands on a message, at once or as soon as there is a broker. */
  send(message: SentMessage): void;
  /** `end`: the client sends nothing more. `close`: open waits are to be answered now. */
  end(how: "end" | "close"): void;
  /** The next number of a message. */
  next(): number;
  readonly sent: SentMessages;
  /** Ends it at once. */
  destroy(): void;
}

export interface BrokerLinkOptions {
  version: string;
  /** The client's working folder. */
  folder: string;
  /** Connects to a broker that may have to be started (reach-broker.ts). */
  connect(): Promise<Socket>;
  /** How often a broker that owes something is asked for a sign of life, ms. */
  lookMs?: number;
}

export interface BrokerLinkEvents {
  /** A message for the client, to be acknowledged by `written` once it has it. */
  onMessage(text: string, written: () => void): void;
  onStore(storeId: string): void;
  /**
   * No broker serves now: open requests were given up. `isFinal`: none ever served, or none can with this configuration;
   * else the next message tries again.
   */
  onRefused(error: Error, given: { id: string }[], isFinal: boolean): void;
  /** After `end`: everything was said. */
  onEnded(): void;
}

/**
 * Brokers that die one after another, within a short time and without an answer: no more are started until the client
 * asks again.
 */
const MOST_DEATHS = 5;
const SOON_MS = 10_000;

/** As much as says that nobody knows for how long a message has waited, ms. */
const MOST_WAITED_MS = 3_600_000;

export function createBrokerLink(options: BrokerLinkOptions, events: BrokerLinkEvents): BrokerLink {
  const session = randomUUID();
  const sent = createSentMessages();
  /** Read while there was no connection. */
  let unsent: SentMessage[] = [];
  let count = 0;
  let selected: string | undefined;
  let socket: Socket | undefined;
  let watch: AnswerWatch | undefined;
  let isConnecting = false;
  /** The broker has ended in order, or cannot serve: the next message starts another. */
  let isDormant = false;
  let hadBroker = false;
  /** A broker has opened its store: one that ended before has served nobody. */
  let wasServed = false;
  /** The process of the last broker that greeted. */
  let brokerPid: number | undefined;
  let deaths: number[] = [];
  /** Has the broker of this connection said anything, and had the one of the connection before it? */
  let isGreeted = false;
  let wasGreeted = true;
  let ending: "end" | "close" | undefined;
  let isOver = false;

  const isIdle = (): boolean => unsent.length === 0 && sent.isEmpty();

  const over = (): void => {
    if (isOver) return;
    isOver = true;
    watch?.close();
    socket?.destroy();
    events.onEnded();
  };

  const send = (message: SentMessage, isResent = false): void => {
    const { n, arrivedAt, text } = message;
    if (!socket) {
      unsent.push(message);
      return;
    }
    const waitedMs = Math.min(Math.round(performance.now() - arrivedAt), MOST_WAITED_MS);
    writeFrame(
      socket,
      { kind: "message", n, ...(waitedMs > 0 ? { waitedMs } : {}), ...(isResent ? { isResent } : {}) },
      text,
    );
  };

  const handOn = (from: Socket, { n, answers }: Extract<ToPipe, { kind: "message" }>, text: string): void => {
    const acknowledge = (): void => writeFrame(from, { kind: "written", n });
    if (answers === undefined) events.onMessage(text, acknowledge);
    // Else what an earlier broker answered: the client must not get two answers to one request.
    else if (sent.answered(answers, acknowledge)) {
      deaths = [];
      events.onMessage(text, () => {
        sent.ended(answers);
        acknowledge();
      });
    }
  };

  const heard = (from: Socket, { header, text }: Frame<ToPipe>): void => {
    isGreeted = true;
    wasServed ||= header.kind === "ready";
    watch?.heard();
    if (header.kind === "welcome") brokerPid = header.pid;
    else if (header.kind === "message") handOn(from, header, text);
    else if (header.kind === "dropped") sent.ended(header.answers);
    else if (header.kind === "selected") selected = header.editor;
    else if (header.kind === "ready") events.onStore(header.storeId);
    else if (header.kind === "failed") refused(header);
    else if (header.kind === "ended") isDormant = true;
  };

  const refused = ({ message, isUsage }: Extract<ToPipe, { kind: "failed" }>): void =>
    isUsage ? refuse(new BrokerNotStarted(message, 2), true) : refuse(new Error(message), false);

  const connected = (next: Socket): void => {
    if (isOver) {
      next.destroy();
      return;
    }
    socket = next;
    isGreeted = false;
    isDormant = false;
    const isResumed = hadBroker;
    hadBroker = true;
    readFrames<ToPipe>(next, (frame) => heard(next, frame));
    next.on("error", () => undefined);
    next.once("close", () => lost(next));
    const { version, folder } = options;
    const hello = { protocol: PIPE_PROTOCOL, version, session, pid: process.pid, folder, isResumed };
    writeFrame(next, { kind: "hello", ...hello, ...(selected === undefined ? {} : { selected }) });
    const repeated = isResumed ? sent.toRepeat() : [];
    const again = new Set(repeated.map(({ n }) => n));
    const waiting = unsent.filter(({ n }) => !again.has(n));
    unsent = [];
    for (const message of repeated) send(message, true);
    for (const message of waiting) send(message);
    if (ending) writeFrame(next, { kind: ending });
    watch = createAnswerWatch(next, {
      isExpecting: () => !isGreeted || !sent.isEmpty(),
      silent: () => hangs(next),
      lookMs: options.lookMs,
    });
    watch.expectAnswer();
  };

  const disconnected = (): void => {
    watch?.close();
    watch = undefined;
    socket = undefined;
  };

  /** Another one is not started beside it: it owns the Editors until its process ends. */
  const hangs = (silent: Socket): void => {
    disconnected();
    silent.destroy();
    const which = isGreeted && brokerPid !== undefined ? ` (process ${brokerPid})` : "";
    refuse(new Error(`The broker${which} ${HANGS}`), brokerPid === undefined);
  };

  const lost = (last: Socket): void => {
    if (socket !== last) return;
    disconnected();
    if (isOver) return;
    // The system closes a dead broker's connections one by one, and may accept another one in between: the same death.
    const isAnotherDeath = isGreeted || !wasGreeted;
    wasGreeted = isGreeted;
    if (ending && (isDormant || isIdle())) over();
    else if (isDormant && wasServed && isIdle()) return;
    else if (isAnotherDeath && isDyingAgain()) refuse(new Error(DYING), false);
    else connect();
  };

  const isDyingAgain = (): boolean => {
    deaths = [...deaths, performance.now()].slice(-MOST_DEATHS);
    const [first = 0] = deaths;
    if (deaths.length < MOST_DEATHS || performance.now() - first > SOON_MS) return false;
    deaths = [];
    return true;
  };

  const refuse = (error: Error, isFinal: boolean): void => {
    isDormant = true;
    unsent = [];
    const open = sent.open();
    for (const { n } of open) sent.ended(n);
    const given = open.filter(({ isCancelled }) => !isCancelled);
    events.onRefused(error, given, isFinal);
    if (ending) over();
  };

  const connect = (): void => {
    if (isConnecting || socket || isOver) return;
    isConnecting = true;
    const attempt = options.connect().finally(() => {
      isConnecting = false;
    });
    attempt.then(connected, (error: Error) => {
      if (!isOver) refuse(error, brokerPid === undefined);
    });
  };

  return {
    sent,
    start: connect,
    next() {
      count += 1;
      return count;
    },
    send(message) {
      sent.sent(message);
      send(message);
      watch?.expectAnswer();
      connect();
    },
    end(how) {
      if (ending) return;
      ending = how;
      if (socket) writeFrame(socket, { kind: how });
      // While it connects it may have something to hand on.
      else if (!isConnecting) over();
    },
    destroy() {
      isOver = true;
      watch?.close();
      socket?.destroy();
    },
  };
}

const HANGS =
  "does not answer: it is stopped, or hangs. Run `unity-broker down`, then send the request again: it is not run twice. If the broker goes on by itself, the request may still run.";
const DYING = "The broker ended again and again. Run `unity-broker doctor`, then send the request again.";
