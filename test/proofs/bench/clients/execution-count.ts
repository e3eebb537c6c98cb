/** How often an Editor began the benchmark's tool, by the file in which it notes each beginning. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { QUICK_TOOL } from "../quick-tool.js";

/** Reads only what was added since it was last asked. */
export function createExecutionCount(file: string): () => number {
  let read = 0;
  let executions = 0;
  return () => {
    if (!existsSync(file)) return 0;
    const opened = openSync(file, "r");
    const added = Buffer.alloc(fstatSync(opened).size - read);
    readSync(opened, added, 0, added.length, read);
    closeSync(opened);
    read += added.length;
    // A line is appended by one write.
    executions += added.toString().split(` ${QUICK_TOOL} `).length - 1;
    return executions;
  };
}
