/** Starts one redis-server process, and says how to reach it. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { daemonEnvironment } from "../shared/daemon-environment.js";
import { makeOwnFolder, ownFile } from "../shared/machine/private-folder.js";
import { type Environment, fsyncFor } from "./directories.js";
import type { RedisBinary } from "./package/binary.js";
import { withLibraries } from "./package/package-tree.js";

/** How to reach a private server, in the form that `new Redis(…)` and BullMQ's `connection` accept. */
export type RedisAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number; readonly password: string };

export interface LaunchOptions {
  readonly binary: RedisBinary;
  /** Holds the append-only file, the configuration and the log; only one server may use it at a time. */
  readonly directory: string;
  readonly address: RedisAddress;
  readonly env: Environment;
  /** Survives the end of the process that starts it. */
  readonly detached: boolean;
}

/** Most bytes of redis.log. */
const LARGEST_LOG = 5 * 1024 * 1024;

/**
 * Starts a private Redis server and returns at once; call `awaitAnswer` to learn when it can be used.
 *
 * It listens on the given unix socket only (or, with a password, on one local port), never evicts, and appends every
 * write to a file. No server may be running in the same directory: the caller holds the lock.
 */
export function launchServer(options: LaunchOptions): ChildProcess {
  makeOwnFolder(options.directory);
  turnLog(options.directory);
  const configuration = configurationFile(options.directory);
  // A file instead of arguments: every user of the machine could read a password among the arguments.
  writeFileSync(configuration, serverConfiguration(options), { mode: 0o600 });
  ownFile(configuration);
  ownFile(logFile(options.directory));
  // Redis inherits this mask, and its files hold every argument and result.
  const before = process.umask(0o077);
  try {
    return spawn(options.binary.file, [configuration], {
      cwd: options.directory,
      detached: options.detached,
      stdio: "ignore",
      windowsHide: true,
      env: { ...withLibraries(daemonEnvironment(options.env), options.binary.libraryPath) },
    });
  } finally {
    process.umask(before);
  }
}

function serverConfiguration(options: LaunchOptions): string {
  const { address, directory } = options;
  const listen =
    "path" in address
      ? ["port 0", `unixsocket ${quote(address.path)}`, "unixsocketperm 700"]
      : [`bind ${address.host}`, `port ${address.port}`, `requirepass ${quote(address.password)}`];
  return [
    "# Written at every start by unity-broker; changes are lost.",
    ...listen,
    `dir ${quote(directory)}`,
    `logfile ${quote(logFile(directory))}`,
    // Losing an operation's record would allow a second execution: nothing is evicted, everything is appended.
    "maxmemory-policy noeviction",
    "appendonly yes",
    `appendfsync ${fsyncFor(directory)}`,
    'save ""',
    "",
  ].join("\n");
}

function configurationFile(directory: string): string {
  return join(directory, "redis.conf");
}

/** The address in the last server's configuration; undefined if none was started here. */
export function configuredAddress(directory: string): RedisAddress | undefined {
  let text: string;
  try {
    text = readFileSync(configurationFile(directory), "utf8");
  } catch {
    return undefined;
  }
  // A copy of another data directory names that directory's server.
  if (!text.includes(`\ndir ${quote(directory)}\n`)) return undefined;
  const socket = /^unixsocket (".*")$/m.exec(text)?.[1];
  if (socket !== undefined) return { path: JSON.parse(socket) as string };
  const found = /^bind (\S+)\nport (\d+)\nrequirepass "(\w+)"$/m.exec(text);
  const [, host, port, password] = found ?? [];
  return host && password ? { host, port: Number(port), password } : undefined;
}

/** Redis' quoting accepts the escapes that JSON uses for these characters. */
function quote(text: string): string {
  return JSON.stringify(text);
}

export function logFile(directory: string): string {
  return join(directory, "redis.log");
}

/** Redis only appends to its log. Before a start, a log that has grown large replaces the old one. */
function turnLog(directory: string): void {
  const log = logFile(directory);
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST_LOG) renameSync(log, `${log}.old`);
}

/** The last lines of a server's log, for the message about its failure; empty if there is no log. */
export function logTail(directory: string): string {
  try {
    const file = openSync(logFile(directory), "r");
    try {
      const buffer = Buffer.alloc(2000);
      const length = readSync(
        file,
        buffer,
        0,
        buffer.length,
        Math.max(0, fstatSync(file).size - buffer.length),
      );
      return buffer.toString("utf8", 0, length).trim().split("\n").slice(-6).join("\n");
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}
