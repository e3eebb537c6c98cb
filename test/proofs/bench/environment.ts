/** As on a user's machine, but nothing of this user's Editors, Redis or configuration. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export function environment(folder: string, dataDir: string, cacheDir: string): NodeJS.ProcessEnv {
  const home = join(folder, "home");
  mkdirSync(home);
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(UNITY_BROKER_|REDIS_URL|NODE_OPTIONS|NODE_ENV)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    UNITY_BROKER_DATA_DIR: dataDir,
    UNITY_BROKER_CACHE_DIR: cacheDir,
    UNITY_BROKER_EDITORS_DIR: join(folder, "editors"),
    UNITY_BROKER_LOG_LEVEL: "warn",
  };
}
