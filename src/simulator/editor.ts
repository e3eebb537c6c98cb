/** A simulated Unity Editor: a real TCP peer of docs/reference/protocol.md, with a project that only exists in memory. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { makeOwnFolder } from "../shared/machine/private-folder.js";
import type { PushType } from "../shared/wire/push.js";
import type { EndpointFile } from "../shared/wire/wire.js";
import { identify } from "./identity.js";
import { type CounterLine, createCounterFile } from "./ledger/counter-file.js";
import {
  completeOptions,
  DEFAULT_PROJECT,
  DEFAULT_UNITY_VERSION,
  type SimulatedEditorOptions,
} from "./options.js";
import { createToolTable } from "./tools.js";
import { type EditorSession, startEditorSession } from "./wire/editor-session.js";
import { createPublishedEndpoint } from "./wire/endpoint-file.js";
import type { TcpServer } from "./wire/tcp-server.js";
import { createWireFaults, type WireFaults } from "./wire/wire-faults.js";

/** Everything that may go wrong with a simulated Editor, on request. */
export interface FaultsDeps {
  wire: WireFaults;
  session(): EditorSession;
  crash(unflushed: "keep" | "lose"): Promise<void>;
  restart(): Promise<void>;
}

function createFaults(deps: FaultsDeps) {
  const { wire } = deps;
  return {
    /** Cuts every connection; the Editor goes on. */
    dropConnections: (): void => deps.session().server.dropConnections(),
    /** Domain reload: nothing listens for `downMs`; resolves once the same port listens again. */
    reload: (downMs = 50): Promise<void> => deps.session().reload(downMs),
    /** The process dies. Unflushed ledger lines (`accepted`) are lost unless `keepUnflushed`. */
    crash: ({ keepUnflushed = false } = {}): Promise<void> => deps.crash(keepUnflushed ? "keep" : "lose"),
    /** It is about to quit: refuses submits, but still listens. */
    beginToQuit(): void {
      deps.session().world.phase = "quitting";
    },
    /** A new Editor process on the same port, project and ledger. */
    restart: deps.restart,
    /** Sends no byte, not even heartbeats, for `ms` or until `speak`; then sends the bytes that were held back. */
    silence(ms?: number): void {
      wire.silence();
      if (ms !== undefined) deps.session().timers.after(ms, wire.speak);
    },
    speak: wire.speak,
    /** Delays every answer by this long, ms; 0 ends the fault. */
    delayAnswers(ms: number): void {
      wire.answerDelayMs = ms;
    },
    /** Writes this many bytes at a time; undefined ends the fault. */
    splitFrames(bytes?: number): void {
      wire.pieceBytes = bytes;
    },
    /** Writes bytes that form no frame on every connection. */
    garbage: (text = "GET / HTTP/1.1\r\nHost: nobody\r\n\r\n"): void =>
      deps.session().server.sendGarbage(Buffer.from(text, "utf8")),
    /** Nothing begins on the main thread for `ms` from now (0: resume); heartbeats report the stall. */
    stallMainThread: (ms: number): void => deps.session().lanes.stallMainThread(ms),
    /** The next request of this method is processed, its answer never written, the connection cut. */
    dropNextAnswerOf: (method: string): void => void wire.cutAfter.push(method),
    /** The next request of this method is never read, the connection cut. */
    dropNextRequestOf: (method: string): void => void wire.cutBefore.push(method),
    /** Every flush of the ledger takes this much longer, ms; 0 ends the fault. */
    slowDisk: (ms: number): void => deps.session().ledger.setSlow(ms),
    /** While true the ledger's disk refuses every line. */
    breakLedger: (broken: boolean): void => deps.session().ledger.setBroken(broken),
  };
}

export type { SimulatedEditorOptions } from "./options.js";
export type SimulatedEditor = Awaited<ReturnType<typeof createSimulatedEditor>>;

const FIRST_PORT = 8700;
const LAST_PORT = 8799;

/**
 * Starts an Editor; resolves once it listens and its endpoint file is written.
 *
 * Rejects if the given port is taken. `close()` quits it as a user would, removes the endpoint file and leaves
 * the ledger and the counter file where they are.
 */
export async function createSimulatedEditor(options: SimulatedEditorOptions = {}) {
  const identity = identify(
    options.projectPath ?? DEFAULT_PROJECT,
    options.unityVersion ?? DEFAULT_UNITY_VERSION,
    options.editorId,
  );
  const settings = completeOptions(options, identity.editorId);
  const token = options.token ?? randomBytes(24).toString("base64url");
  makeOwnFolder(settings.ledgerFolder);
  const ledgerFile = join(settings.ledgerFolder, "ledger.log");
  const counter = createCounterFile(settings.counterFile);
  const tools = createToolTable(settings.tools);
  const wire = createWireFaults();
  const published = createPublishedEndpoint(settings.endpointFolder, identity, settings.plain);
  const startedAt = Date.now();
  const endpoint = (): EndpointFile => ({
    ...identity,
    pid: process.pid,
    pidStartedAt: startedAt,
    host: "127.0.0.1",
    port,
    token,
    phase: session.world.phase,
  });
  const start = () =>
    startEditorSession({ identity, tools, counter, faults: wire, ledgerFile, token }, settings);

  let session = start();
  let alive = true;
  const open = async (): Promise<void> => {
    try {
      port = await listenOnFirstFree(session.server, port === 0 ? options.port : port);
      published.write(endpoint());
    } catch (error) {
      await session.die("keep");
      throw error;
    }
  };
  let port = 0;
  await open();

  const crash = async (unflushed: "keep" | "lose"): Promise<void> => {
    if (!alive) return;
    alive = false;
    wire.speak();
    await session.die(unflushed);
  };
  const restart = async (): Promise<void> => {
    if (alive) throw new Error("the Editor is running; crash it first");
    session = start();
    await open();
    alive = true;
  };

  return {
    editorId: identity.editorId,
    port,
    token,
    ledgerFile,
    counterFile: counter.file,
    endpointFile: published.files[0],
    endpoint,
    /** Every execution of a mutating tool that ever began, across crashes and restarts. */
    counter: (): CounterLine[] => counter.lines(),
    /** Where the present Editor process stands. */
    status: () => ({
      alive,
      editorSessionId: session.editorSessionId,
      generation: session.world.generation,
      phase: session.world.phase,
      ledgerId: session.ledger.ledgerId,
      ledgerSeq: session.ledger.ledgerSeq(),
      clients: session.clients(),
      open: session.ledger.open().map(({ operationId, state, tool }) => ({ operationId, state, tool })),
      unacknowledged: session.ledger
        .unacknowledged()
        .map(({ operationId, state }) => ({ operationId, state })),
    }),
    faults: createFaults({ wire, session: () => session, crash, restart }),
    /** Add or remove a tool, then announce it with `toolsChanged`. */
    tools,
    toolsChanged: (): void => session.tellToolsChanged(),
    /** Plain only: the names that clients gave themselves in this process, in order. */
    clientNames: (): readonly string[] => session.clientNames(),
    /** Writes this into the push channel. */
    push: (type: PushType): void => session.push.push(type),
    /** Simulates an edit of the scripts on disk: this many tests fail once they are compiled. */
    edit: (failingTests: number): void => {
      session.world.failingTests.edited = failingTests;
    },
    /** Writes a line to the Console. */
    log: (type: "Log" | "Warning" | "Error", message: string): void => session.world.log(type, message),
    /** A person lets another broker's store take over this Editor. */
    handOver: (): void => session.hello.handOver(),
    async close(): Promise<void> {
      wire.speak();
      if (alive) await session.quit();
      alive = false;
      published.remove();
    },
  };
}

/** Listening is the only race-free test of a port. */
async function listenOnFirstFree(server: TcpServer, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) return server.listen(wanted);
  for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) {
    try {
      return await server.listen(port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
  throw new Error(`Every port from ${FIRST_PORT} to ${LAST_PORT} is taken.`);
}
