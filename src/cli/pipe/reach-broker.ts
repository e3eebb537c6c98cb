/** A connection with the broker of this environment, which is started if it does not run. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { connect as connectSocket, type Socket } from "node:net";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "../../embedded-redis/directories.js";
import { isPrivateSocket } from "../../embedded-redis/run-directory.js";
import { brokerEnvironment } from "../../shared/daemon-environment.js";
import { isLiving } from "../../shared/machine/living-process.js";
import { alone } from "../../shared/machine/start-claim.js";
import { packageFile } from "../../shared/package-file.js";
import { CONFIG_FILE } from "../../shared/setting-names.js";
import { type BrokerEndpoint, isNewer, readEndpoint } from "./broker-place.js";
import { controlBroker } from "./control-client.js";
import { BrokerNotStarted, OTHER_SETTINGS } from "./not-started.js";

/** The built command line, also when this runs from the sources. */
const MAIN = packageFile("dist/cli/main.js");

/** From the start of its process until it listens, ms: before it opens anything. */
const START_LIMIT_MS = 30_000;
/** How long an older broker may take to hand over, ms. */
const DRAIN_LIMIT_MS = 30_000;
const CLAIM_LIMIT_MS = 90_000;
/** A broker that somebody ends while it starts is started again; so many times at most. */
const MOST_LAUNCHES = 3;
/** A broker that lives and does not accept connections is asked for this long, ms. */
const DEAF_LIMIT_MS = 5_000;
const POLL_MS = 10;

export interface ReachOptions {
  /** Its broker's folder (broker-place.ts). */
  folder: string;
  env: Environment;
  /** The environment, with what a configuration file said when `folder` was found by it; undefined: `env`. */
  settings?: Environment;
  version: string;
}

/**
 * Connects. Of any number of processes that find no broker, one starts it. An older broker is asked to hand over to one of
 * this version; a newer one serves older clients. Rejects with BrokerNotStarted, or with what keeps it from starting one.
 */
export async function reachBroker(options: ReachOptions): Promise<Socket> {
  const { folder } = options;
  const meanwhile = async (): Promise<Socket | undefined> => {
    const endpoint = readEndpoint(folder);
    return endpoint && !isNewer(options.version, endpoint.version) ? connect(endpoint) : undefined;
  };
  const there = await meanwhile();
  if (there) return there;
  const claim = { timeoutMs: CLAIM_LIMIT_MS, meanwhile, tooLong };
  return alone(folder, claim, async () => (await meanwhile()) ?? start(options));
}

/**
 * Runs `open` in place of a broker in the background, which hands over first. Undefined, and nothing is run, if a broker
 * serves in another terminal, or does not hand over for now.
 */
export function inPlaceOfBackground<T>(
  { folder, version }: Pick<ReachOptions, "folder" | "version">,
  open: () => Promise<T>,
): Promise<T | undefined> {
  const claim = { timeoutMs: CLAIM_LIMIT_MS, meanwhile: async () => undefined, tooLong };
  return alone<T | undefined>(folder, claim, async () => {
    const present = readEndpoint(folder);
    const socket = present && (await untilConnected(present));
    if (socket && (await controlBroker(socket, "status", version)).isForeground) return undefined;
    const busy = present && (await handOver(present, version));
    busy?.destroy();
    return busy ? undefined : open();
  });
}

function tooLong(pid: string, claim: string): Error {
  return new BrokerNotStarted(
    `Process ${pid} has been starting the broker for ${CLAIM_LIMIT_MS / 1000} s. End it, or delete ${claim} if it is another program.`,
    1,
  );
}

/** Call with the claim held. */
async function start({ folder, env, settings = env, version }: ReachOptions): Promise<Socket> {
  const present = readEndpoint(folder);
  if (present) {
    if (isNewer(version, present.version)) {
      const older = await handOver(present, version);
      if (older) return older;
    } else {
      const socket = await untilConnected(present);
      if (socket) return socket;
      // Nobody can reach it: a cleaner of temporary files took its socket, for example. Without a mark the process may
      // as well be a stranger with the same id.
      if (present.mark !== undefined) await end(present);
    }
  }
  const log = join(folder, "broker.log");
  turnLog(log);
  const from = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  let given = env;
  let child = launch(folder, log, given);
  let launches = 1;
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const endpoint = readEndpoint(folder);
    const socket = endpoint && (await connect(endpoint));
    if (socket) return socket;
    if (child.failure) throw child.failure;
    const { exitCode, signalCode } = child.process;
    // Ended by a signal, or in order because `down` ran just then; another process may also have started one in between.
    const wasEnded = signalCode !== null || (exitCode === 0 && !endpoint);
    if (wasEnded && launches < MOST_LAUNCHES) {
      child = launch(folder, log, given);
      launches += 1;
    } else if (exitCode === OTHER_SETTINGS && given === env) {
      given = withoutFile(settings);
      child = launch(folder, log, given);
    } else if (wasEnded || (exitCode !== null && exitCode !== 0)) {
      throw notStarted(child.process, log, from);
    }
    if (performance.now() > deadline) {
      child.process.kill("SIGKILL");
      throw new BrokerNotStarted(`The broker did not start within ${START_LIMIT_MS / 1000} s: see ${log}`, 1);
    }
    await delay(POLL_MS);
  }
}

/**
 * For a broker whose file was changed since: a session keeps the settings that it began with. With others it might go on in
 * another store, which does not know what it has sent.
 */
function withoutFile(settings: Environment): Environment {
  const { [CONFIG_FILE]: _changed, ...read } = settings;
  return read;
}

interface Launched {
  process: ChildProcess;
  /** Why there is no process. */
  failure?: Error;
}

function launch(folder: string, log: string, env: Environment): Launched {
  const output = openSync(log, "a", 0o600);
  try {
    const child = spawn(process.execPath, [MAIN, "broker", "--for", basename(folder)], {
      // Not the client's: a folder cannot be deleted on Windows while a process is in it.
      cwd: folder,
      detached: true,
      stdio: ["ignore", "ignore", output],
      windowsHide: true,
      env: brokerEnvironment(env),
    });
    child.unref();
    const launched: Launched = { process: child };
    child.on("error", (error) => {
      launched.failure = error;
    });
    return launched;
  } finally {
    closeSync(output);
  }
}

/** Of broker.log, bytes. */
const LARGEST_LOG = 5 * 1024 * 1024;

/** Between two brokers a log that grew large becomes the old one, and replaces that. */
function turnLog(log: string): void {
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_LOG) renameSync(log, `${log}.old`);
}

/** What it said last is why it ended. */
function notStarted({ exitCode, signalCode }: ChildProcess, log: string, from: number): BrokerNotStarted {
  const said = readFileSync(log).subarray(from).toString("utf8");
  const at = said.lastIndexOf("unity-broker: ");
  const why =
    at < 0
      ? `The broker ended while it started (${signalCode ?? `exit code ${exitCode}`}): see ${log}`
      : said.slice(at + 14);
  return new BrokerNotStarted(why.trim(), exitCode ?? 1);
}

/** Resolves when it has; with a connection to it if it does not for now, and serves this version's clients too. */
async function handOver(older: BrokerEndpoint, version: string): Promise<Socket | undefined> {
  const socket = await untilConnected(older);
  const status = socket && (await controlBroker(socket, "drain", version).catch(() => undefined));
  if (status?.complies === false) return untilConnected(older);
  if (await isGone(older, DRAIN_LIMIT_MS)) return undefined;
  throw new BrokerNotStarted(
    `The broker of version ${older.version} (process ${older.pid}) did not hand over within ${DRAIN_LIMIT_MS / 1000} s. End it, and try again.`,
    1,
  );
}

/** Undefined if it does not accept connections in time. */
async function untilConnected(endpoint: BrokerEndpoint): Promise<Socket | undefined> {
  const deadline = performance.now() + DEAF_LIMIT_MS;
  while (isLiving(endpoint) && performance.now() < deadline) {
    const socket = await connect(endpoint);
    if (socket) return socket;
    await delay(POLL_MS);
  }
  return undefined;
}

/** Signals it, unless it has ended: one that was killed is connected to no more a moment before the system calls it dead. */
export function signal(endpoint: BrokerEndpoint, name: "SIGTERM" | "SIGKILL"): void {
  if (!isLiving(endpoint)) return;
  try {
    process.kill(endpoint.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function end(endpoint: BrokerEndpoint): Promise<void> {
  signal(endpoint, "SIGTERM");
  if (await isGone(endpoint, DRAIN_LIMIT_MS)) return;
  throw new BrokerNotStarted(
    `The broker (process ${endpoint.pid}) cannot be reached and does not end. End it.`,
    1,
  );
}

/** It is not our child, so the system sends no event. */
async function isGone(endpoint: BrokerEndpoint, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (isLiving(endpoint)) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** Undefined if nobody accepts there, or somebody else could. */
export function connect({ socket: path }: BrokerEndpoint): Promise<Socket | undefined> {
  if (process.platform !== "win32" && !isPrivateSocket(path)) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

// Ends a broker of this user: in order if it answers.

/** It answers open waits, and gives its Editors back. */
const END_LIMIT_MS = 20_000;

interface EndLimits {
  /** How long it may take to say that it ends, ms. */
  answerMs?: number;
  /** How long one that did not say so may take to obey a signal, ms. */
  signalMs?: number;
}

/** `killed`: it neither answered nor obeyed. Rejects if it does not end. */
export async function endBroker(
  folder: string,
  version: string,
  { answerMs, signalMs = 5_000 }: EndLimits = {},
): Promise<"none" | "ended" | "killed"> {
  const endpoint = readEndpoint(folder);
  if (!endpoint) return "none";
  const socket = await connect(endpoint);
  const asked = socket && (await controlBroker(socket, "stop", version, answerMs).catch(() => undefined));
  // It cannot be reached, or does not listen: it may be stopped. Without a mark it may be a stranger with the same id.
  if (!asked && endpoint.mark !== undefined) {
    signal(endpoint, "SIGTERM");
    if (await isGone(endpoint, signalMs)) return "ended";
    signal(endpoint, "SIGKILL");
  }
  if (await isGone(endpoint, END_LIMIT_MS)) return asked ? "ended" : "killed";
  throw new Error(`The broker (process ${endpoint.pid}) does not end. End it yourself, then try again.`);
}
