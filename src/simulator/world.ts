/** The content of the simulated project: console, phase, counters. It survives a domain reload, but not a crash. */
export interface LogLine {
  LogType: "Log" | "Warning" | "Error";
  Message: string;
  /** ms since the epoch. */
  At: number;
}

export interface World {
  /** It need not be on disk. */
  readonly projectPath: string;
  readonly logs: LogLine[];
  /** What it does at this moment. */
  phase: "ready" | "compiling" | "building" | "testing" | "reloading" | "quitting" | "compile_errors";
  /** Grows by one with every domain reload. */
  generation: number;
  /** Grows with everything that changes assets. */
  assetCounter: number;
  /** What the last compilation said, a line for each error; empty when the scripts compile. */
  compileErrors: readonly string[];
  /** How many tests fail: by the scripts on disk, and by the last compilation, which is what runs. */
  readonly failingTests: { edited: number; compiled: number };
  log(type: LogLine["LogType"], message: string): void;
  /** Hears every new line, until it is called off. */
  onLine(hear: (line: LogLine) => void): () => void;
}

/** The console keeps its newest lines, as the bridge's ring buffer does. */
const LOG_CAPACITY = 1000;

export function createWorld(now: () => number, projectPath: string): World {
  const logs: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  return {
    projectPath,
    logs,
    phase: "ready",
    generation: 0,
    assetCounter: 0,
    compileErrors: [],
    failingTests: { edited: 0, compiled: 0 },
    log(type, message) {
      const line = { LogType: type, Message: message, At: now() };
      logs.push(line);
      if (logs.length > LOG_CAPACITY) logs.shift();
      for (const hear of listeners) hear(line);
    },
    onLine(hear) {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
  };
}

/** The phase while nothing is under way. */
export function restingPhase({ compileErrors }: Pick<World, "compileErrors">): World["phase"] {
  return compileErrors.length > 0 ? "compile_errors" : "ready";
}
