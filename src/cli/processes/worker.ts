/** `unity-broker worker`: owns the Editors of this machine, without a gateway. */
import { createWorker } from "../../worker/worker.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/processes.js";
import { VERSION } from "../version.js";
import { workerOptions } from "./options.js";
import { startServing } from "./runtime.js";
import { readSettings } from "./settings.js";
import { stopRequested } from "./stop.js";

export const worker: Run<typeof declared.worker> = async () => {
  const stopping = stopRequested();
  const runtime = await startServing(readSettings(), stopping);
  if (!runtime) return;
  const owners = createWorker({ ...runtime, version: VERSION }, workerOptions(runtime.config));
  console.log(`Worker for the Editors in ${runtime.editorsFolder}`);
  await stopping;
  await owners.close();
  await runtime.close();
};
