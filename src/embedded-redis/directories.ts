/** Where the private Redis keeps its data, its cache and its socket. */
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

const NAME = "unity-job-broker";

/** The variables of a process that started us; only the CLI reads `process.env` itself. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folders of this user's broker, for data that must survive (`dataDir`) and data that can be fetched again (`cacheDir`).
 *
 * Both are only paths: nothing is created. Each platform's convention decides; on Linux the XDG variables count
 * if they are absolute, as their specification demands.
 */
export function defaultDirectories(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): { dataDir: string; cacheDir: string } {
  if (platform === "win32") {
    const home = env.USERPROFILE || homedir();
    const local = env.LOCALAPPDATA || win32.join(home, "AppData", "Local");
    return { dataDir: win32.join(local, NAME, "data"), cacheDir: win32.join(local, NAME, "cache") };
  }
  const home = env.HOME || homedir();
  if (platform === "darwin") {
    return {
      dataDir: posix.join(home, "Library", "Application Support", NAME),
      cacheDir: posix.join(home, "Library", "Caches", NAME),
    };
  }
  const xdg = (variable: string, otherwise: string) => {
    const value = env[variable];
    return value && posix.isAbsolute(value) ? value : posix.join(home, otherwise);
  };
  return {
    dataDir: posix.join(xdg("XDG_DATA_HOME", ".local/share"), NAME),
    cacheDir: posix.join(xdg("XDG_CACHE_HOME", ".cache"), NAME),
  };
}
