/** `unity-broker up`: everything in one process, for one machine. */
import { createGateway } from "../../gateway/gateway.js";
import { createHttpGateway } from "../../gateway/http/http.js";
import { createSimulatedEditor } from "../../simulator/editor.js";
import { createWorker } from "../../worker/worker.js";
import { accessOf, endpointHint } from "../address.js";
import { noteLaunch } from "../clients/launch-note.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/processes.js";
import { selfCommand } from "../self.js";
import { VERSION } from "../version.js";
import { gatewayOptions, workerOptions } from "./options.js";
import { startServing } from "./runtime.js";
import { readSettings } from "./settings.js";
import { stopRequested } from "./stop.js";

export const up: Run<typeof declared.up> = async ({ args }) => {
  const stopping = stopRequested();
  const settings = readSettings();
  const access = await accessOf(args, settings);
  const runtime = await startServing(settings, stopping);
  if (!runtime) return;
  noteLaunch();
  const closers: (() => Promise<unknown>)[] = [runtime.close];
  try {
    const gateway = createGateway({ ...runtime, principals: access.auth }, gatewayOptions(runtime.config));
    closers.unshift(gateway.close);
    const http = await createHttpGateway(
      { gateway, log: runtime.log, version: VERSION, auth: access.auth },
      access,
    );
    closers.unshift(http.close);
    const worker = createWorker({ ...runtime, version: VERSION }, workerOptions(runtime.config));
    // Open waits are answered first: to them an Editor that is let go looks as if it had closed.
    closers.splice(1, 0, worker.close);
    if (args.simulate) {
      const editor = await createSimulatedEditor({ endpointFolder: runtime.editorsFolder });
      closers.splice(2, 0, editor.close);
      console.log(`Simulated Unity Editor ${editor.editorId} on port ${editor.port}`);
    }
    console.log(endpointHint(http.url, access, selfCommand()));
    console.log(
      `Ctrl-C ends it; operations and results stay in Redis (\`${selfCommand()} down\` ends a private one).`,
    );
    await stopping;
  } finally {
    for (const close of closers) await close();
  }
};
