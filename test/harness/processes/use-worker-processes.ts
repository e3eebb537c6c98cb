import { afterEach, expect } from "vitest";
import { createWorkerProcesses, type WorkerProcesses } from "./worker-processes.js";

/** Call it below `useSystem()`: its processes have to end before the system is looked at. */
export function useWorkerProcesses(): Omit<WorkerProcesses, "close"> {
  const processes = createWorkerProcesses();
  afterEach(async () => {
    expect(await processes.close()).toEqual([]);
  });
  return processes;
}
