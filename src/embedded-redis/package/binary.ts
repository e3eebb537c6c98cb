/** Finds a Redis binary: installed, in the cache, or from Debian's package. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { daemonEnvironment } from "../../shared/daemon-environment.js";
import { packageFile } from "../../shared/package-file.js";
import { head, tail } from "../../shared/printable.js";
import type { Environment } from "../directories.js";
import { type Attempt, redisUnavailable } from "../redis-errors.js";
import { findProgram, runCommand, searchDirectories } from "../run-command.js";
import { cachedTree, claimRenewal, obtainCached, whyNotCached } from "./cached-redis.js";
import { libraryDirectories, withLibraries } from "./package-tree.js";

/** A server program that answered `--version`, so it runs on this machine. */
export interface RedisBinary {
  readonly file: string;
  /** Directories for LD_LIBRARY_PATH; empty for a program that the system installed. */
  readonly libraryPath: readonly string[];
  readonly version: string;
}

export interface BinaryOptions {
  /** UNITY_BROKER_REDIS_BINARY: if given, nothing else is tried, so that a wrong path is noticed. */
  readonly binary?: string | undefined;
  readonly cacheDir: string;
  readonly env: Environment;
  readonly platform?: NodeJS.Platform | undefined;
  /** Called with one sentence before something is fetched or installed. */
  say(message: string): void;
}

const PROGRAMS = ["valkey-server", "redis-server", "memurai"];
const OLDEST = [6, 2] as const;

/** A program to try, or why there is none. */
type Candidate = { file: string; libraryPath?: string[] } | { missing: string };

/**
 * Finds a Redis server program, and obtains one if the machine has none.
 *
 * Tries the named binary, PATH, the cache, then this platform's package source. Several processes may do so at once:
 * each fetches for itself, and one unpacked tree wins. Rejects with REDIS_UNAVAILABLE, which lists what was tried.
 */
export async function findRedisBinary(options: BinaryOptions): Promise<RedisBinary> {
  const platform = options.platform ?? process.platform;
  const attempts: Attempt[] = [];
  const attempt = async (tried: string, candidate: Candidate) => {
    const found = await probe(candidate, options.env);
    if (typeof found !== "string") return found;
    attempts.push({ tried, because: found });
    return undefined;
  };

  if (options.binary) {
    const named = await attempt(`UNITY_BROKER_REDIS_BINARY=${options.binary}`, { file: options.binary });
    if (named) return named;
    throw redisUnavailable(attempts, platform);
  }

  const directories = searchDirectories(options.env, platform);
  for (const name of PROGRAMS) {
    const installed = await attempt(`${name} on PATH`, programIn([name], directories, "not there", platform));
    if (installed) return installed;
  }

  if (platform === "linux") {
    const tree = cachedTree(options.cacheDir);
    const cached = await attempt(`cache ${tree}`, trustedServerIn(tree));
    const canObtain = findProgram(["apt-get"], directories) && findProgram(["dpkg"], directories);
    if (cached) {
      if (canObtain && claimRenewal(tree, Date.now())) startRenewal(tree, options.env);
      return cached;
    }
    if (canObtain) {
      options.say(
        `No Redis on this machine: fetching the signed redis-server package into ${tree} (installs nothing).`,
      );
      const missing = await obtainCached(tree, options.env, (unpacked) =>
        whyNotServing(unpacked, options.env),
      );
      const obtained = await attempt("apt-get download", missing ? { missing } : trustedServerIn(tree));
      if (obtained) return obtained;
    } else {
      attempts.push({ tried: "apt-get download", because: "apt-get and dpkg are not on PATH" });
    }
  }

  if (platform === "darwin") {
    const brew = findProgram(["brew"], directories);
    if (brew) {
      options.say("No Redis on this machine: running `brew install redis` (no service is started).");
      const result = await runCommand(brew, ["install", "redis"], { env: options.env, timeoutMs: 600_000 });
      const reason = result.code === 0 ? "it left no redis-server" : tail(result.output, 300);
      const prefix = await runCommand(brew, ["--prefix"], { env: options.env, timeoutMs: 30_000 });
      const places = [join(prefix.output, "bin"), join(prefix.output, "opt", "redis", "bin")];
      const obtained = await attempt("brew install redis", programIn(["redis-server"], places, reason));
      if (obtained) return obtained;
    } else {
      attempts.push({ tried: "brew install redis", because: "brew is not on PATH" });
    }
  }

  throw redisUnavailable(attempts, platform);
}

/** Asks a program for its version; answers the version, or why the program cannot be used. */
async function probe(candidate: Candidate, env: Environment): Promise<RedisBinary | string> {
  if ("missing" in candidate) return candidate.missing;
  const { file, libraryPath = [] } = candidate;
  const result = await runCommand(file, ["--version"], {
    env: withLibraries(env, libraryPath),
    timeoutMs: 10_000,
  });
  if (result.code !== 0)
    return `it does not run: ${result.output.split("\n")[0] || `exit code ${result.code}`}`;
  const numbers = /v=(\d+)\.(\d+)\.\d+/.exec(result.output) ?? /(\d+)\.(\d+)\.\d+/.exec(result.output);
  if (!numbers) return `it does not report its version: ${head(result.output, 100)}`;
  const [major, minor] = [Number(numbers[1]), Number(numbers[2])];
  // Memurai has its own version numbers; all versions that still start are compatible with Redis 6.2 or newer.
  const own = /memurai/i.test(result.output);
  if (!own && (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))) {
    return `${major}.${minor} is too old, ${OLDEST.join(".")} is needed`;
  }
  return { file, libraryPath, version: numbers[0].replace("v=", "") };
}

function programIn(
  names: string[],
  directories: string[],
  missing: string,
  platform?: NodeJS.Platform,
): Candidate {
  const file = findProgram(names, directories, platform);
  return file ? { file } : { missing };
}

/** Why the server in this tree does not run; undefined if it does. */
export async function whyNotServing(tree: string, env: Environment): Promise<string | undefined> {
  const found = await probe(serverIn(tree), env);
  return typeof found === "string" ? found : undefined;
}

/** A program that other users could have put there is not even run for its version. */
function trustedServerIn(tree: string): Candidate {
  if (!existsSync(tree)) return { missing: "not there yet" };
  const missing = whyNotCached(tree);
  return missing === undefined ? serverIn(tree) : { missing };
}

function serverIn(tree: string): Candidate {
  const file = findProgram(["valkey-server", "redis-server"], [join(tree, "usr", "bin")]);
  return file ? { file, libraryPath: libraryDirectories(tree) } : { missing: "not there yet" };
}

/** How apt reaches its sources. A proxy's address may contain a password, for the minute that this takes. */
const OF_APT = ["APT_CONFIG", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/** Starts a look for newer packages (renewal.ts) that outlives this process. The tree to renew is the only argument. */
function startRenewal(tree: string, env: Environment): void {
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
