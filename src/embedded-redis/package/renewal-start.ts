import { spawn } from "node:child_process";
import { daemonEnvironment } from "../../shared/daemon-environment.js";
import { packageFile } from "../../shared/package-file.js";
import type { Environment } from "../directories.js";

/** How apt reaches its sources. A proxy's address may contain a password, for the minute that this takes. */
const OF_APT = ["APT_CONFIG", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/** Starts a look for newer packages (renewal.ts) that outlives this process. The tree to renew is the only argument. */
export function startRenewal(tree: string, env: Environment): void {
  const file = packageFile("dist/embedded-redis/package/renewal.js");
  const child = spawn(process.execPath, [file, tree], {
    cwd: "/",
    detached: true,
    stdio: "ignore",
    env: daemonEnvironment(env, OF_APT),
  });
  child.on("error", () => {
    // The caller's work does not depend on it: it is tried again in a week.
  });
  child.unref();
}
