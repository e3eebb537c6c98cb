/** Finds, starts, shares and stops the private Redis of a data directory. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { diskProblem } from "../shared/machine/disk-problem.js";
import { identify, isLiving } from "../shared/machine/living-process.js";
import { alone } from "../shared/machine/start-claim.js";
import { type Endpoint, readEndpoint, removeEndpoint, writeEndpoint } from "./endpoint.js";
import { startKeeper } from "./keeper-start.js";
import { type BinaryOptions, findRedisBinary, type RedisBinary } from "./package/binary.js";
import { redisNotStarted } from "./redis-errors.js";
import { ask, askToShutDown, awaitAnswer, type ProbeAnswer, processIdAt } from "./redis-probe.js";
import { isPrivateSocket, makeSocketPath, removeSocket, socketPaths } from "./run-directory.js";
import { configuredAddress, launchServer, logFile, logTail, type RedisAddress } from "./server.js";

export interface EmbeddedRedisOptions extends BinaryOptions {
  readonly dataDir: string;
  /** A server that this call starts is shut down when unused for this long, ms; undefined or 0: never. */
  readonly idleMs?: number | undefined;
  /** Sent to the server right before it is shut down for being idle. */
  readonly lastCommand?: readonly string[] | undefined;
}

export interface EmbeddedRedis {
  /** For `new Redis(…)` and BullMQ's `connection`; the same after the server is replaced. */
  readonly address: RedisAddress;
  readonly pid: number;
  /** True: this call started it. False: it was running already, or another process was faster. */
  readonly started: boolean;
}

/** How long the process that starts or ends the server may take; fetching it and reading a large append-only file count. */
const CLAIM_TIMEOUT_MS = 180_000;
const LOADING_LIMIT_MS = 150_000;
/** The time from the start of the process to its socket; only a slow disk or a virus scanner makes it long. */
const ABSENT_LIMIT_MS = 10_000;
/** The same for a server that another process started, which should have been ready long ago. */
const LOST_LIMIT_MS = 1_000;
const SILENT_LIMIT_MS = 10_000;
const END_LIMIT_MS = 10_000;
/** The least that a disk gives to a file. */
const PAGE_BYTES = 4096;

/**
 * Provides the one Redis server of this data directory; starts it if it is not running.
 *
 * Any number of processes may call this at once: one starts the server, all get the same one. It outlives its starter,
 * and its data outlives the server. A server
 * that was killed is replaced at the next call. Rejects with REDIS_UNAVAILABLE or REDIS_START_FAILED.
 */
export async function ensureEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  try {
    return await findOrStart(options);
  } catch (error) {
    const { syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const why = diskProblem(error, join(options.dataDir, "redis"));
    throw redisNotStarted(`The embedded Redis cannot be started: ${why}, and type the same again.`, error);
  }
}

async function findOrStart(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const directory = redisDirectory(options.dataDir);
  const running = async () => {
    const known = readEndpoint(directory);
    if (!known || !isLiving(known) || (await askOurs(known.address)) !== "ready") return undefined;
    return { address: known.address, pid: known.pid, started: false };
  };
  const present = await running();
  if (present) return present;
  return alone(directory, { timeoutMs: CLAIM_TIMEOUT_MS, meanwhile: running, tooLong }, async () => {
    const survivor = await settle(directory);
    if (survivor) return { address: survivor.address, pid: survivor.pid, started: false };
    // Only here: each search reads the whole program, and many at once would keep each other from ending in time.
    return start(directory, await findRedisBinary(options), options);
  });
}

/**
 * Shuts down the server of this data directory after it has saved everything; false if none was running.
 *
 * Resolves once its process is gone. Connected clients lose their connections. Rejects with REDIS_START_FAILED
 * if the server does not end.
 */
export async function stopEmbeddedRedis(options: {
  readonly dataDir: string;
  /** Sent to the server right before it is shut down. */
  readonly lastCommand?: readonly string[] | undefined;
}): Promise<boolean> {
  const directory = redisDirectory(options.dataDir);
  const nothingMeanwhile = async () => undefined;
  const claim = { timeoutMs: CLAIM_TIMEOUT_MS, meanwhile: nothingMeanwhile, tooLong };
  return alone<boolean>(directory, claim, async () => {
    const known = readEndpoint(directory) ?? (await adopt(directory));
    const running = known !== undefined && isLiving(known) && (await end(known, options.lastCommand));
    if (known && "path" in known.address) removeSocket(known.address.path);
    removeEndpoint(directory);
    return running;
  });
}

export interface EmbeddedRedisDescription {
  readonly directory: string;
  readonly log: string;
  /** Undefined if no server of this data directory is running. */
  readonly server?: { readonly pid: number; readonly address: RedisAddress; readonly answer: ProbeAnswer };
}

/** Describes the server of this data directory without starting or changing anything. */
export async function describeEmbeddedRedis(options: {
  readonly dataDir: string;
}): Promise<EmbeddedRedisDescription> {
  const directory = join(options.dataDir, "redis");
  const known = readEndpoint(directory);
  const place = { directory, log: logFile(directory) };
  if (!known || !isLiving(known)) return place;
  return {
    ...place,
    server: { pid: known.pid, address: known.address, answer: await askOurs(known.address) },
  };
}

function tooLong(pid: string, claim: string): Error {
  return redisNotStarted(
    `Process ${pid} has been fetching, starting or ending the embedded Redis for ${CLAIM_TIMEOUT_MS / 1000} s. ` +
      `End it, or delete ${claim} if it is another program.`,
  );
}

function redisDirectory(dataDir: string): string {
  const directory = join(dataDir, "redis");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Two paths to one directory must name one server.
  return realpathSync(directory);
}

/** Call while holding the lock. Answers a server that is running after all, once it has loaded; removes the leftovers of a dead one. */
async function settle(directory: string): Promise<Endpoint | undefined> {
  const known = readEndpoint(directory);
  if (!known || !isLiving(known)) return adopt(directory);
  const answer = isOurs(known.address)
    ? await awaitAnswer(known.address, withinLimits(LOST_LIMIT_MS))
    : "foreign";
  if (answer === "ready") return known;
  if (answer === "loading" || answer === "silent") {
    throw redisNotStarted(
      `The embedded Redis (process ${known.pid}) is ${answer}: see ${logFile(directory)}; if it hangs, end it.`,
    );
  }
  // It is unreachable: its socket was removed by a cleaner of temporary files, for example. Without a mark the process may
  // be another program with the same id, which is left alone.
  if (known.mark !== undefined) await end(known);
  return undefined;
}

/** A server without an endpoint file: its starter was killed before writing it, or the file was deleted. */
async function adopt(directory: string): Promise<Endpoint | undefined> {
  const configured = configuredAddress(directory);
  // The configuration may be lost too, and another process may have had a different XDG_RUNTIME_DIR or none.
  const usual = process.platform === "win32" ? [] : socketPaths(directory, {}).map((path) => ({ path }));
  for (const address of configured ? [configured] : usual) {
    if (!isOurs(address)) continue;
    if ((await awaitAnswer(address, (answer) => answer === "loading")) !== "ready") continue;
    const server = identify((await processIdAt(address)) ?? 0);
    if (!server) continue;
    const endpoint = { ...server, address };
    writeEndpoint(directory, endpoint);
    return endpoint;
  }
  return undefined;
}

/** Whether only this user's server can answer at this address. A server on a port must know the password. */
function isOurs(address: RedisAddress): boolean {
  return !("path" in address) || isPrivateSocket(address.path);
}

async function askOurs(address: RedisAddress): Promise<ProbeAnswer> {
  return isOurs(address) ? ask(address) : "foreign";
}

async function start(
  directory: string,
  binary: RedisBinary,
  options: EmbeddedRedisOptions,
): Promise<EmbeddedRedis> {
  const address = await chooseAddress(directory, options);
  const server = launchServer({ binary, directory, address, env: options.env, detached: true });
  if (server.pid === undefined) {
    const [error] = await once(server, "error");
    throw redisNotStarted(`${binary.file} could not be started: ${error.message}`, error);
  }
  // Written at once, synchronously: if this process is killed now, the next one knows that a server is starting.
  writeEndpoint(directory, { pid: server.pid, mark: identify(server.pid)?.mark, address });
  server.unref();
  const limits = withinLimits(ABSENT_LIMIT_MS);
  const answer = await awaitAnswer(
    address,
    (given) => server.exitCode === null && server.signalCode === null && limits(given),
  );
  if (answer === "ready") {
    const { idleMs, lastCommand } = options;
    if (idleMs) startKeeper({ address, idleMs, lastCommand }, { env: options.env, directory });
    return { address, pid: server.pid, started: true };
  }
  const why = logTail(directory) || whyNoLog(directory);
  server.kill("SIGKILL");
  removeEndpoint(directory);
  if ("path" in address) removeSocket(address.path);
  throw redisNotStarted(
    [`The embedded Redis (${binary.file} ${binary.version}) did not start. ${logFile(directory)} ends with:`]
      .concat(why)
      .join("\n"),
  );
}

/** The disk may have refused even that. */
function whyNoLog(directory: string): string {
  const probe = join(directory, `probe.${process.pid}`);
  try {
    writeFileSync(probe, Buffer.alloc(PAGE_BYTES));
    return "(nothing)";
  } catch (error) {
    return `(nothing: ${diskProblem(error, directory)})`;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** The last start's address if it can be used again, so that clients reconnect to the next server by themselves. */
async function chooseAddress(
  directory: string,
  { env, platform = process.platform }: EmbeddedRedisOptions,
): Promise<RedisAddress> {
  const last = readEndpoint(directory)?.address;
  if (platform !== "win32") {
    if (last && "path" in last && isPrivateSocket(last.path)) return last;
    return { path: makeSocketPath(directory, env) };
  }
  const host = "127.0.0.1";
  if (last && "port" in last && (await freePort(host, last.port)) !== undefined) return last;
  const port = await freePort(host, 0);
  if (port === undefined) throw redisNotStarted(`No port of ${host} is free.`);
  return { host, port, password: randomBytes(24).toString("hex") };
}

/** Tries a port (0: any); undefined when it is taken. */
async function freePort(host: string, port: number): Promise<number | undefined> {
  const probe = createServer();
  try {
    await once(probe.listen(port, host), "listening");
    const bound = probe.address();
    return typeof bound === "object" && bound ? bound.port : undefined;
  } catch {
    return undefined;
  } finally {
    probe.close();
  }
}

/** Saves and shuts down a running server; true if its process has ended. */
async function end(server: Endpoint, lastCommand?: readonly string[]): Promise<true> {
  const answer = await askOurs(server.address);
  if (answer === "ready" || answer === "loading") {
    await askToShutDown(server.address, lastCommand);
    if (await isGone(server, END_LIMIT_MS)) return true;
  }
  // It is unreachable, or ignored the command. The signal has the same effect.
  if (server.mark !== undefined && isLiving(server)) process.kill(server.pid, "SIGTERM");
  if (await isGone(server, END_LIMIT_MS)) return true;
  throw redisNotStarted(
    `The embedded Redis (process ${server.pid}) does not end. End it yourself, then try again.`,
  );
}

/** It is not a child of this process, so the system sends no event: polls until it has ended. */
async function isGone(server: Endpoint, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (isLiving(server)) {
    if (performance.now() > deadline) return false;
    await delay(10);
  }
  return true;
}

/** How long each kind of answer may last before the server counts as failed. */
function withinLimits(absentMs: number): (answer: ProbeAnswer) => boolean {
  const since = new Map<ProbeAnswer, number>();
  const limits: Partial<Record<ProbeAnswer, number>> = {
    loading: LOADING_LIMIT_MS,
    silent: SILENT_LIMIT_MS,
    absent: absentMs,
  };
  return (answer) => {
    const first = since.get(answer) ?? performance.now();
    since.set(answer, first);
    return performance.now() - first < (limits[answer] ?? 0);
  };
}
