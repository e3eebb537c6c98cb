/**
 * `unity-broker broker`: the background broker of this user and configuration, started on demand by the first client. It
 * listens before it has loaded anything heavy, so that a client which waits for it is greeted at once.
 */
import { basename } from "node:path";
import { describeError, type Run } from "../command.js";
import { settingsEnvironment } from "../configuration/config-file.js";
import type * as declared from "../declared/processes.js";
import { environment } from "../environment.js";
import { brokerFolder } from "../pipe/broker-place.js";
import { OTHER_SETTINGS } from "../pipe/not-started.js";
import { stopRequested } from "../processes/stop.js";
import { VERSION } from "../version.js";
import { openLocalService } from "./local-service.js";

export const broker: Run<typeof declared.broker> = async ({ args }) => {
  const signalled = stopRequested();
  const folder = brokerFolder(settingsEnvironment());
  // The file was changed since the client read it.
  if (args.for !== undefined && args.for !== basename(folder)) {
    process.exitCode = OTHER_SETTINGS;
    return;
  }
  const service = await openLocalService({
    folder,
    env: environment(),
    version: VERSION,
    isForeground: false,
  });
  // Another process of this version, or a newer one, was faster.
  if (!service) return;
  try {
    const { runInBackground } = await import("./background.js");
    await runInBackground(service, signalled);
  } catch (error) {
    service.failed(describeError(error));
    throw error;
  } finally {
    await service.close();
  }
};
