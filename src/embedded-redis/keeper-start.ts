/** Starts the keeper, which stops a private Redis that nobody uses. */
import { spawn } from "node:child_process";
import { daemonEnvironment } from "../shared/daemon-environment.js";
import { packageFile } from "../shared/package-file.js";
import type { Environment } from "./directories.js";
import type { RedisAddress } from "./server.js";

/** The keeper's input: the server, how long it may be unused before it is ended, and how to end it. */
export interface KeeperOrder {
  readonly address: RedisAddress;
  readonly idleMs: number;
  /** Sent to the server right before it is shut down. */
  readonly lastCommand?: readonly string[] | undefined;
}

/** The variable with the keeper's input. It may hold a password, and other users could read an argument. */
export const KEEPER_ORDER = "UNITY_BROKER_KEEPER";

/** Starts a keeper (keeper.ts) that outlives this process. Without it the server would only keep running. */
export function startKeeper(order: KeeperOrder, options: { env: Environment; directory: string }): void {
  const file = packageFile("dist/embedded-redis/keeper.js");
  const child = spawn(process.execPath, ["--max-semi-space-size=1", "--v8-pool-size=0", file], {
    // Not the caller's folder: Windows cannot delete a folder while a process runs in it.
    cwd: options.directory,
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    env: { ...daemonEnvironment(options.env), [KEEPER_ORDER]: JSON.stringify(order) },
  });
  child.on("error", () => {
    // The caller's work does not depend on it.
  });
  child.unref();
}
