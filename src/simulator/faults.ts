/** Everything that may go wrong with a simulated Editor, on request. */
import type { EditorSession } from "./wire/editor-session.js";
import type { WireFaults } from "./wire/wire-faults.js";

export interface FaultsDeps {
  wire: WireFaults;
  session(): EditorSession;
  crash(unflushed: "keep" | "lose"): Promise<void>;
  restart(): Promise<void>;
}

export function createFaults(deps: FaultsDeps) {
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
