/**
 * The only place that runs an operation: journal `running`, count it, invoke the tool, journal the outcome,
 * report it. Nothing is invoked without `running` on disk, which alone keeps it from a second execution. An outcome that
 * the disk refuses is reported all the same: the store keeps it.
 */

import { head } from "../shared/printable.js";
import {
  type ConsoleLine,
  LINE_LENGTH,
  LINES_IN_NOTICE,
  type LogNotice,
} from "../shared/wire/console-lines.js";
import type { Outcome, Progress, Standing } from "../shared/wire/wire.js";
import type { Lanes } from "./lanes.js";
import type { CounterFile } from "./ledger/counter-file.js";
import type { LedgerOperation } from "./ledger/journal-entry.js";
import type { Ledger } from "./ledger/ledger.js";
import { createProgressThrottle } from "./progress-throttle.js";
import type { LargeResults } from "./results/large-results.js";
import type { Timers } from "./timers.js";
import { readArguments, type SimulatedTool } from "./tool-definition.js";
import type { ToolTable } from "./tools.js";
import type { LogLine, World } from "./world.js";

// Console lines of a running operation, at most every `intervalMs`, the last always sent. While they cannot be sent the first
// ones are kept, and the others counted.

export interface LineThrottle {
  add(line: LogLine): void;
  /** Sends what is held back now, before the outcome is reported. */
  flush(): void;
  close(): void;
}

/** `send`: false if no worker takes lines at the moment. */
function createLineThrottle(
  deps: { timers: Timers; now(): number; send(lines: Omit<LogNotice, "operationId">): boolean },
  options: { intervalMs: number },
): LineThrottle {
  let held: ConsoleLine[] = [];
  let more = 0;
  let lastSentAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | undefined;

  const send = (): void => {
    if (held.length === 0) return;
    lastSentAt = deps.now();
    if (!deps.send({ lines: held, ...(more > 0 ? { more } : {}) })) return;
    held = [];
    more = 0;
  };
  const due = (): void => {
    cancelTimer = undefined;
    send();
    if (held.length > 0) cancelTimer = deps.timers.after(options.intervalMs, due);
  };

  return {
    add({ LogType, Message }) {
      if (held.length < LINES_IN_NOTICE)
        held.push({ type: typeOf(LogType), message: head(Message, LINE_LENGTH) });
      else more += 1;
      // Later, so that lines that are written together leave together.
      cancelTimer ??= deps.timers.after(Math.max(0, lastSentAt + options.intervalMs - deps.now()), due);
    },
    flush: send,
    close: () => cancelTimer?.(),
  };
}

const typeOf = (type: LogLine["LogType"]): ConsoleLine["type"] =>
  type === "Log" ? "log" : type === "Warning" ? "warning" : "error";

export interface ExecutionDeps {
  ledger: Ledger;
  lanes: Lanes;
  tools: ToolTable;
  results: LargeResults;
  world: World;
  counter: CounterFile;
  timers: Timers;
  now(): number;
  notify(method: string, params: object): void;
  /** The worker that is connected takes Console lines. */
  takesLog(): boolean;
  /** Where the Editor stands, for `endedIn`. */
  standing(): Standing;
  /** Called once for every outcome, after it is in the ledger. */
  ended(operation: LedgerOperation, outcome: Outcome): void;
  /** Reloads the script domain; resolves once it is loaded again. */
  reload(): Promise<void>;
}

interface Execution {
  abort: AbortController;
  cancelRequested: boolean;
  /** Set if the tool's result is no longer wanted: it is ignored. */
  abandoned: boolean;
}

export type Executions = ReturnType<typeof createExecutions>;

export function createExecutions(
  deps: ExecutionDeps,
  options: { timeScale: number; progressIntervalMs: number },
) {
  const executions = new Map<string, Execution>();
  const lastProgress = new Map<string, Progress>();

  const run = async (operation: LedgerOperation, tool: SimulatedTool): Promise<void> => {
    if (operation.state !== "accepted") return;
    try {
      deps.ledger.begin(operation);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      settle(operation, failure("ledger_unavailable", `Not invoked. ${why}`, deps.now()));
      return;
    }
    deps.notify("operation/running", { operationId: operation.operationId });
    const execution: Execution = { abort: new AbortController(), cancelRequested: false, abandoned: false };
    executions.set(operation.operationId, execution);
    const result = await invoke(operation, tool, execution);
    if (execution.abandoned) return;
    executions.delete(operation.operationId);
    const startedAt = operation.startedAt ?? deps.now();
    const endedAt = deps.now();
    const executionMs = endedAt - startedAt;
    const times = { startedAt, endedAt, executionMs };
    const endedIn: Standing = { ...deps.standing(), ...(result.reload ? { reloadAnnounced: true } : {}) };
    settle(operation, deps.results.keep(operation, { ...result.outcome, ...times, endedIn }));
    if (result.reload) void deps.reload();
  };

  const invoke = async (operation: LedgerOperation, tool: SimulatedTool, execution: Execution) => {
    const { operationId } = operation;
    const args = readArguments(operation.arguments ?? {});
    let seq = 0;
    const throttle = createProgressThrottle(
      {
        timers: deps.timers,
        now: deps.now,
        send(report) {
          if (execution.abandoned) return;
          seq += 1;
          const progress: Progress = { ...report, operationId, seq };
          lastProgress.set(operationId, progress);
          deps.notify("operation/progress", progress);
        },
      },
      { intervalMs: options.progressIntervalMs },
    );
    const lines = createLineThrottle(
      {
        timers: deps.timers,
        now: deps.now,
        send(held) {
          const isSent = !execution.abandoned && deps.takesLog();
          if (isSent) deps.notify("operation/log", { operationId, ...held });
          return isSent;
        },
      },
      { intervalMs: options.progressIntervalMs },
    );
    const deaf = tool.lane === "main" ? deps.world.onLine(lines.add) : undefined;
    const flush = (): void => {
      throttle.flush();
      lines.flush();
    };
    let reload = false;
    try {
      if (!operation.readOnly) {
        deps.counter.append({ operationId, what: tool.label?.(args) ?? tool.name, at: deps.now() });
      }
      const result = await tool.run({
        operationId,
        args,
        world: deps.world,
        signal: execution.abort.signal,
        progress: throttle.report,
        wait: (seconds) => pass(seconds * options.timeScale * 1000, execution.abort.signal),
        reload: deps.reload,
        reloadAfterwards: () => {
          reload = true;
        },
      });
      flush();
      return { outcome: { status: "completed" as const, result }, reload };
    } catch (error) {
      flush();
      const status = execution.cancelRequested ? ("cancelled" as const) : ("failed" as const);
      return { outcome: { status, error: describe(error, execution.cancelRequested) }, reload };
    } finally {
      throttle.close();
      deaf?.();
      lines.close();
    }
  };

  const pass = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stopped = (): void => {
        cancel();
        reject(new Error("stopped"));
      };
      const cancel = deps.timers.after(ms, () => {
        signal.removeEventListener("abort", stopped);
        resolve();
      });
      if (signal.aborted) stopped();
      else signal.addEventListener("abort", stopped, { once: true });
    });

  const settle = (operation: LedgerOperation, outcome: Outcome): void => {
    deps.ledger.end(operation, outcome);
    deps.ended(operation, outcome);
  };

  return {
    /** Queues an accepted operation on its lane. */
    queue(operation: LedgerOperation): void {
      const tool = deps.tools.get(operation.tool ?? "");
      if (!tool) {
        settle(
          operation,
          failure("unknown_tool", `There is no tool ${operation.tool} any more.`, deps.now()),
        );
        return;
      }
      deps.lanes.add({
        operationId: operation.operationId,
        lane: tool.lane,
        blocksMainThread: tool.blocksMainThread,
        run: () => run(operation, tool),
      });
    },
    /** Journals and reports an outcome without an invocation. */
    settle,
    /** Asks a running tool to stop; false if it cannot be asked. */
    requestCancel(operation: LedgerOperation): boolean {
      const execution = executions.get(operation.operationId);
      if (!execution || !deps.tools.get(operation.tool ?? "")?.cancellable) return false;
      execution.cancelRequested = true;
      execution.abort.abort();
      return true;
    },
    /** Abandons a running execution without an outcome. */
    abandon(operationId: string): void {
      const execution = executions.get(operationId);
      if (execution) {
        execution.abandoned = true;
        execution.abort.abort();
        executions.delete(operationId);
      }
      deps.lanes.abandon(operationId);
    },
    progressOf: (operationId: string): Progress | undefined => lastProgress.get(operationId),
    forgetProgress: (operationId: string): void => void lastProgress.delete(operationId),
    close(): void {
      for (const execution of executions.values()) {
        execution.abandoned = true;
        execution.abort.abort();
      }
      executions.clear();
    },
  };
}

/** The outcome of an operation that never began, without `startedAt`. */
export function failure(type: string, message: string, endedAt: number): Outcome {
  return { status: "failed", error: { type, message }, endedAt };
}

function describe(error: unknown, cancelled: boolean): NonNullable<Outcome["error"]> {
  if (cancelled) return { type: "cancelled", message: "Cancelled while it was running." };
  if (!(error instanceof Error)) return { type: "internal_error", message: String(error) };
  const type = error.name === "Error" ? "internal_error" : error.name;
  return { type, message: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) };
}
