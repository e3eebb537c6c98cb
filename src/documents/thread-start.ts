/** Starts the worker thread that holds documents. */
import { Worker } from "node:worker_threads";
import type { ThreadLimits } from "./messages.js";

export type StartThread = (limits: ThreadLimits) => Worker;

/**
 * A worker thread cannot load TypeScript on Node 20, not even below tsx, whose loader serves the main thread only. So
 * the built file is started even if this one runs from source, in tests and in `npm run dev`: build first.
 */
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/documents/document-thread.js" : "./document-thread.js",
  import.meta.url,
);

/** Starts without the process's environment and flags: a loader or a debugger is not meant for it. */
export const startThread: StartThread = (limits) =>
  new Worker(PROGRAM, {
    workerData: limits,
    env: {},
    execArgv: [],
    name: "documents",
    resourceLimits: { maxOldGenerationSizeMb: limits.maxHeapMb },
  });
