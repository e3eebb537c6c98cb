/**
 * Where the background broker of this environment is: one for each user and configuration. Another environment (another
 * store, data folder or setting) gets another broker. Reads the environment without the configuration's schema, which
 * would triple the time that a client's pipe needs to start.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, watch } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { defaultDirectories, type Environment } from "../../embedded-redis/directories.js";
import { BROKER_SETTINGS } from "../../shared/daemon-environment.js";
import { isLiving, type ProcessIdentity } from "../../shared/machine/living-process.js";
import {
  makeOwnFolder,
  ownFolder,
  replaceOwnFile,
  requirePrivateFolder,
} from "../../shared/machine/private-folder.js";
import { CONFIG_FILE } from "../../shared/setting-names.js";

/** How a living broker is reached. */
export interface BrokerEndpoint extends ProcessIdentity {
  /** A unix socket's path, or the name of a pipe of Windows. */
  readonly socket: string;
  readonly version: string;
}

function dataDirOf(env: Environment): string {
  return env.UNITY_BROKER_DATA_DIR || defaultDirectories(env).dataDir;
}

/**
 * The folder of this environment's broker: its endpoint and log, and the claims of those that start one. Makes it. `env`: with
 * what a configuration file says (settingsEnvironment).
 */
export function brokerFolder(env: Environment): string {
  const data = dataDirOf(env);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  // A folder that was chosen keeps its rights; the system's choice is ours (settings.ts).
  if (env.UNITY_BROKER_DATA_DIR) requirePrivateFolder(data);
  else ownFolder(data);
  // Where Editors are looked for.
  const home = env.HOME || env.USERPROFILE || homedir();
  // What the file says counts, not where it is.
  const settings = BROKER_SETTINGS.map((name) => (name === CONFIG_FILE ? "" : (env[name] ?? "")));
  const configuration = JSON.stringify([realpathSync(data), home, settings]);
  const key = createHash("sha256").update(configuration).digest("hex").slice(0, 16);
  const folder = join(realpathSync(data), BROKERS, key);
  makeOwnFolder(join(realpathSync(data), BROKERS));
  makeOwnFolder(folder);
  return folder;
}

const BROKERS = "brokers";
const ENDPOINT = "endpoint.json";

/** The folders of all configurations that had a broker with this data folder. */
export function brokerFolders(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, BROKERS)).map((key) => join(dataDir, BROKERS, key));
  } catch {
    return [];
  }
}

/** Undefined if there is none, or its broker has ended. */
export function readEndpoint(folder: string): BrokerEndpoint | undefined {
  try {
    const read = JSON.parse(readFileSync(endpointFile(folder), "utf8")) as Partial<BrokerEndpoint>;
    const { pid, mark, socket, version } = read;
    if (typeof pid !== "number" || typeof socket !== "string" || typeof version !== "string")
      return undefined;
    const endpoint = { pid, mark: typeof mark === "string" ? mark : undefined, socket, version };
    return isLiving(endpoint) ? endpoint : undefined;
  } catch {
    return undefined;
  }
}

function writeEndpoint(folder: string, endpoint: BrokerEndpoint): void {
  replaceOwnFile(endpointFile(folder), `${JSON.stringify(endpoint)}\n`);
}

/** Writes it again should somebody delete it: without it nobody finds the broker, nor can another take its place. Answers what ends that. */
export function keepEndpoint(folder: string, endpoint: BrokerEndpoint): () => void {
  writeEndpoint(folder, endpoint);
  const watcher = watch(folder, { persistent: false }, (_event, name) => {
    try {
      if (name === ENDPOINT && readEndpoint(folder) === undefined) writeEndpoint(folder, endpoint);
    } catch {
      // Its folder is gone too.
    }
  });
  watcher.on("error", () => undefined);
  return () => watcher.close();
}

/** Unless another broker has written it since. */
export function removeEndpoint(folder: string, pid: number): void {
  if (readEndpoint(folder)?.pid === pid) rmSync(endpointFile(folder), { force: true });
}

function endpointFile(folder: string): string {
  return join(folder, ENDPOINT);
}

/** Is `version` newer than `other`? A release is newer than its own pre-releases. */
export function isNewer(version: string, other: string): boolean {
  const [core = "", suffix] = version.split("-", 2);
  const [otherCore = "", otherSuffix] = other.split("-", 2);
  const order = core.localeCompare(otherCore, "en", { numeric: true });
  if (order !== 0) return order > 0;
  if (suffix === undefined || otherSuffix === undefined)
    return suffix === undefined && otherSuffix !== undefined;
  return suffix.localeCompare(otherSuffix, "en", { numeric: true }) > 0;
}
