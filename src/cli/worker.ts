/** `unity-broker worker`: owns the Editors of this machine, without a gateway. */
import { createWorker } from "../worker/worker.js";
import { command } from "./command.js";
import { startRuntime, workerOptions } from "./runtime.js";
import { stopRequested } from "./stop.js";
import { VERSION } from "./version.js";

export const worker = command({
  meta: { name: "worker", description: "Owns the Unity Editors of this machine and runs their jobs" },
  async run() {
    const stopping = stopRequested();
    const runtime = await startRuntime();
    const owners = createWorker({ ...runtime, version: VERSION }, workerOptions(runtime.config));
    console.log(`Worker for the Editors in ${runtime.editorsFolder}`);
    await stopping;
    await owners.close();
    await runtime.close();
  },
});
