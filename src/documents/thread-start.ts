/** Starts the worker thread that holds documents. */
import { Worker } from "node:worker_threads";
import { packageFile } from "../shared/package-file.js";
import type { ThreadLimits } from "./messages.js";

export type StartThread = (limits: ThreadLimits) => Worker;

/**
 * A worker thread cannot load TypeScript on Node 20, not even below tsx, whose loader serves the main thread only. So
 * the built file is started even if this one runs from source, in tests and in `npm run dev`: build first.
 */
const PROGRAM = packageFile("dist/documents/document-thread.js");

/** Starts without the process's environment and flags: a loader or a debugger is not meant for it. */
export const startThread: StartThread = (limits) =>
  new Worker(PROGRAM, {
    workerData: limits,
    env: {},
    execArgv: [],
    name: "documents",
    resourceLimits: { maxOldGenerationSizeMb: limits.maxHeapMb },
  });
