import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { daemonEnvironment } from "../shared/daemon-environment.js";
import type { Environment } from "./directories.js";
import type { RedisAddress } from "./server.js";

/** The keeper's input: the server, how long it may be unused before it is ended, and how to end it. */
export interface KeeperOrder {
  readonly address: RedisAddress;
  readonly idleMs: number;
  /** Sent to the server right before it is ended. */
  readonly lastCommand?: readonly string[] | undefined;
}

/** The variable with the order: other users cannot read it, as they could an argument; it may hold a password. */
export const KEEPER_ORDER = "UNITY_BROKER_KEEPER";

/** Starts a keeper (keeper.ts) that outlives this process. Without it the server just would not be ended. */
export function startKeeper(order: KeeperOrder, options: { env: Environment; directory: string }): void {
  const file = fileURLToPath(new URL("./keeper.js", import.meta.url));
  const child = spawn(process.execPath, ["--max-semi-space-size=1", "--v8-pool-size=0", file], {
    // Not the caller's: a folder cannot be deleted on Windows while a process is in it.
    cwd: options.directory,
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    env: { ...daemonEnvironment(options.env), [KEEPER_ORDER]: JSON.stringify(order) },
  });
  child.on("error", () => {
    // Nothing that the caller's work depends on.
  });
  child.unref();
}
