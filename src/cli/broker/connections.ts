/** The connections of a broker's local socket: pipes of clients, and processes that ask for the broker itself. */
import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import type { PipeLine, PipeSession } from "../../gateway/mcp/pipe/pipe-session.js";
import {
  type BrokerStatus,
  type Frame,
  PIPE_PROTOCOL,
  type PipeControl,
  type PipeHello,
  type ToBroker,
  type ToPipe,
} from "../../shared/pipe-frames.js";
import { readFrames, writeFrame } from "../pipe/socket-line.js";

export interface Connections {
  add(socket: Socket): void;
  /** The pipes' processes, and their clients' working folders. */
  sessions(): BrokerStatus["sessions"];
  /** To every pipe, and to those that come. */
  announce(header: ToPipe): void;
  /** Answers open waits, tells every pipe that this was all, and ends the connections. */
  close(): Promise<void>;
  /** Ends the connections at once: the pipes go on with the broker that follows. */
  cut(): void;
  /** Monotonic ms: when the last session ended or a client last said something. */
  lastUsedAt(): number;
}

export interface ConnectionsDeps {
  version: string;
  /** Opens a session; sessions wait for it, so that the socket listens before everything is loaded. */
  opening: Promise<(line: PipeLine, hello: PipeHello) => PipeSession>;
  status(): Pick<BrokerStatus, "isForeground" | "startedAt">;
  /** Whether it is done. */
  asked(control: PipeControl): Promise<boolean>;
}

interface Connected {
  hello: PipeHello;
  line: PipeLine;
  session: Promise<PipeSession | undefined>;
}

/** The frame as it is heard so much later than it came. */
function waited({ header, text }: Frame<ToBroker>, ms: number): Frame<ToBroker> {
  if (header.kind !== "message") return { header, text };
  return { header: { ...header, waitedMs: (header.waitedMs ?? 0) + Math.round(ms) }, text };
}

export function createConnections({ version, opening, status, asked }: ConnectionsDeps): Connections {
  const sockets = new Set<Socket>();
  /** By the id of the session. */
  const pipes = new Map<string, Connected>();
  const announced: ToPipe[] = [];
  let usedAt = performance.now();
  opening.catch(() => undefined);

  const sessions = (): BrokerStatus["sessions"] =>
    [...pipes.values()].map(({ hello: { pid, folder } }) => ({ pid, folder }));

  const greet = (socket: Socket, gone: AbortSignal, hello: PipeHello): Connected => {
    const line: PipeLine = {
      send: (header, text) => writeFrame(socket, header, text),
      end: () => socket.end(),
      gone,
    };
    line.send({ kind: "welcome", protocol: PIPE_PROTOCOL, version, pid: process.pid });
    for (const header of announced) line.send(header);
    const session = opening.then(
      (open) => (gone.aborted ? undefined : open(line, hello)),
      () => undefined,
    );
    const connected = { hello, line, session };
    pipes.set(hello.session, connected);
    const left = (): void => {
      usedAt = performance.now();
      if (pipes.get(hello.session) === connected) pipes.delete(hello.session);
    };
    gone.addEventListener("abort", left, { once: true });
    return connected;
  };

  const misfit = (socket: Socket, hello: PipeHello): void => {
    const message = `This client's unity-broker (version ${hello.version}) and the broker that runs (version ${version}, process ${process.pid}) do not understand each other. Install one version, run \`unity-broker down\`, then start the client again.`;
    writeFrame(socket, { kind: "failed", message, isUsage: false });
    socket.end();
  };

  const answer = async (socket: Socket, control: PipeControl): Promise<void> => {
    const complies = await asked(control);
    const said = { version, pid: process.pid, ...status(), sessions: sessions(), complies };
    writeFrame(socket, { kind: "status", protocol: PIPE_PROTOCOL, ...said });
    socket.end();
  };

  const add = (socket: Socket): void => {
    sockets.add(socket);
    const gone = new AbortController();
    // Every open request of a session adds a listener.
    setMaxListeners(0, gone.signal);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      sockets.delete(socket);
      gone.abort();
    });
    let connected: Connected | undefined;
    let isMisfit = false;
    const heard = (frame: Frame<ToBroker>): void => {
      const { header } = frame;
      usedAt = performance.now();
      if (header.kind === "ping") writeFrame(socket, { kind: "pong" });
      else if (connected) {
        const arrivedAt = performance.now();
        const hear = (session: PipeSession | undefined): void =>
          session?.heard(waited(frame, performance.now() - arrivedAt));
        // One after the other, each with its effect: an answer that was written counts before the cancellation behind it.
        void connected.session.then((session) => setImmediate(hear, session));
      } else if (isMisfit) return;
      else if (header.kind === "hello" && header.protocol !== PIPE_PROTOCOL) {
        isMisfit = true;
        misfit(socket, header);
      } else if (header.kind === "hello") connected = greet(socket, gone.signal, header);
      else if (header.kind === "control") void answer(socket, header);
      else socket.destroy();
    };
    readFrames<ToBroker>(socket, heard);
  };

  return {
    add,
    sessions,
    announce(header) {
      announced.push(header);
      for (const { line } of pipes.values()) line.send(header);
    },
    async close() {
      const ending = [...pipes.values()].map(async ({ line, session }) => {
        const opened = await Promise.race([session, Promise.resolve(undefined)]);
        if (opened) await opened.close();
        else line.end();
      });
      await Promise.all(ending);
      for (const socket of sockets) socket.end();
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    lastUsedAt: () => usedAt,
  };
}
