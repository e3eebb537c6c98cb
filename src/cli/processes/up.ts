/** `unity-broker up`: everything in one process, for one machine: the broker in the foreground, with HTTP. */
import { createHttpGateway } from "../../gateway/http/http.js";
import { createSimulatedEditor } from "../../simulator/editor.js";
import { accessOf, endpointHint } from "../address.js";
import { type LocalService, openLocalService } from "../broker/local-service.js";
import { mayHandOver, serve, sessionOpener } from "../broker/serving.js";
import { noteLaunch } from "../clients/launch-note.js";
import type { Run } from "../command.js";
import { settingsEnvironment } from "../configuration/config-file.js";
import type * as declared from "../declared/processes.js";
import { environment } from "../environment.js";
import { brokerFolder } from "../pipe/broker-place.js";
import { inPlaceOfBackground } from "../pipe/reach-broker.js";
import { selfCommand } from "../self.js";
import { VERSION } from "../version.js";
import { type Runtime, startServing } from "./runtime.js";
import { readSettings } from "./settings.js";
import { stopRequested } from "./stop.js";

export const up: Run<typeof declared.up> = async ({ args }) => {
  const signalled = stopRequested();
  const settings = readSettings();
  const access = await accessOf(args, settings);
  const runtime = await startServing(settings, signalled);
  if (!runtime) return;
  noteLaunch();
  const closers: (() => Promise<unknown>)[] = [runtime.close];
  try {
    const serving = serve(runtime, access.auth);
    closers.unshift(serving.close);
    const http = await createHttpGateway(
      { gateway: serving.gateway, log: runtime.log, version: VERSION, auth: access.auth },
      access,
    );
    // Open waits are answered first: to them an Editor that is let go looks as if it had closed.
    closers.unshift(http.close);
    const local = settings.config.UNITY_BROKER_BACKGROUND
      ? await serveLocalClients(runtime, serving.served)
      : undefined;
    if (local) closers.unshift(local.close);
    if (args.simulate) {
      const editor = await createSimulatedEditor({ endpointFolder: runtime.editorsFolder });
      closers.splice(-1, 0, editor.close);
      console.log(`Simulated Unity Editor ${editor.editorId} on port ${editor.port}`);
    }
    console.log(endpointHint(http.url, access, selfCommand()));
    console.log(
      `Ctrl-C ends it; operations and results stay in Redis (\`${selfCommand()} down\` ends a private one).`,
    );
    await Promise.race([signalled, ...(local ? [local.asked] : [])]);
  } finally {
    for (const close of closers) await close();
  }
};

/** The clients and commands of this user come here from now on; undefined if another terminal serves them. */
async function serveLocalClients(
  runtime: Runtime,
  served: ReturnType<typeof serve>["served"],
): Promise<LocalService | undefined> {
  const folder = brokerFolder(settingsEnvironment());
  const place = { folder, env: environment(), version: VERSION, isForeground: true };
  const service = await inPlaceOfBackground(place, () => openLocalService(place));
  if (!service) {
    runtime.log.info(
      {},
      "another broker serves the clients of this user over stdio: another `up`, or one that is busy",
    );
    return undefined;
  }
  service.opens(sessionOpener(Promise.resolve(served), runtime), () => mayHandOver(runtime));
  service.announce({ kind: "ready", storeId: runtime.store.storeId() });
  return service;
}
