/**
 * The Editor's threads: one main thread that runs a single task at a time in order, and a background lane of
 * four for the few tools that touch no Unity API.
 */
import type { Lane } from "../shared/tools/tool.js";
import type { Timers } from "./timers.js";

export interface Task {
  operationId: string;
  lane: Lane;
  /** True if the task occupies the main thread from begin to end (a menu item, a build), so that it stalls. */
  blocksMainThread: boolean;
  run(): Promise<void>;
}

const WIDTH: Record<Lane, number> = { main: 1, background: 4 };

export type Lanes = ReturnType<typeof createLanes>;

export function createLanes(deps: { timers: Timers; now(): number }) {
  const queues: Record<Lane, Task[]> = { main: [], background: [] };
  const running: Record<Lane, Set<Task>> = { main: new Set(), background: new Set() };
  let paused = false;
  let closed = false;
  /** Ends the present stall. */
  let endStall: (() => void) | undefined;
  let stalledSince: number | undefined;
  let blockedSince: number | undefined;

  const pump = (): void => {
    if (closed || paused) return;
    for (const lane of ["main", "background"] as const) {
      if (lane === "main" && endStall) continue;
      while (running[lane].size < WIDTH[lane]) {
        const task = queues[lane].shift();
        if (!task) break;
        start(task);
      }
    }
  };
  // Later, so that an answer comes before the notifications of the operation that it queued; both may leave in one write.
  const pumpSoon = (): void => {
    deps.timers.after(0, pump);
  };
  const start = (task: Task): void => {
    running[task.lane].add(task);
    if (task.blocksMainThread) blockedSince = deps.now();
    void task.run().finally(() => finish(task));
  };
  const finish = (task: Task): void => {
    if (!running[task.lane].delete(task)) return;
    if (task.blocksMainThread) blockedSince = undefined;
    pumpSoon();
  };

  return {
    add(task: Task): void {
      queues[task.lane].push(task);
      pumpSoon();
    },
    /** Removes a task that has not begun from its queue. */
    remove(operationId: string): void {
      for (const lane of ["main", "background"] as const) {
        queues[lane] = queues[lane].filter((task) => task.operationId !== operationId);
      }
    },
    /** Abandons a task that has begun: its lane is free although its promise may never settle. */
    abandon(operationId: string): void {
      for (const task of [...running.main, ...running.background]) {
        if (task.operationId === operationId) finish(task);
      }
    },
    clearQueues(): void {
      queues.main = [];
      queues.background = [];
    },
    /** No task begins while paused (a domain reload). */
    setPaused(value: boolean): void {
      paused = value;
      if (!value) pumpSoon();
    },
    /** Blocks the main thread for `ms` from now, whether or not a task runs; replaces a present stall. */
    stallMainThread(ms: number): void {
      endStall?.();
      stalledSince ??= deps.now();
      endStall = deps.timers.after(ms, () => {
        endStall = undefined;
        stalledSince = undefined;
        pump();
      });
    },
    /** ms since the main thread last answered. */
    mainThreadStallMs(): number {
      const since = Math.min(
        blockedSince ?? Number.POSITIVE_INFINITY,
        stalledSince ?? Number.POSITIVE_INFINITY,
      );
      return Number.isFinite(since) ? Math.max(0, deps.now() - since) : 0;
    },
    runningOnMain: (): string | undefined => [...running.main][0]?.operationId,
    queued: (): number => queues.main.length + queues.background.length,
    close(): void {
      closed = true;
      queues.main = [];
      queues.background = [];
    },
  };
}
