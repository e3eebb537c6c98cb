/** Where the private Redis keeps its data, its cache and its socket; how often it waits for the disk. */
import { statfsSync } from "node:fs";
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

// How often the private Redis waits for the disk: chosen at its start, and again at each look of its keeper.

/** With less room than this a disk is about to be full. */
const LITTLE_ROOM_BYTES = 64 * 1024 * 1024;

/**
 * `always`: each write is on disk before its answer, so a kill and a power cut lose nothing. But then Redis ends by itself once the
 * disk refuses a write. Where there is little room: `everysec`, with which it goes on, and refuses writes until there is room.
 */
export function fsyncFor(directory: string): "always" | "everysec" {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < LITTLE_ROOM_BYTES ? "everysec" : "always";
}
