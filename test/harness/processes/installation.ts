/** What a broker is installed in for a test: a folder, a private Redis, and processes that are ended with it. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { layRedisLine, type RedisLine } from "../redis/process-redis.js";
import { startTestRedis, type TestRedis } from "../redis/redis.js";
import { faultsOfTimes } from "../system/record-times.js";
import { endBrokers } from "./brokers.js";
import { openStdioClient, type StdioClient } from "./process-clients.js";
import { createProcesses, MAIN, type Processes, type RunningProcess, until } from "./processes.js";
import { createSharedBroker, type SharedBroker } from "./shared-broker.js";

/** A process that can be ended and started again, with its own way to Redis. */
export interface Member {
  readonly line: RedisLine;
  readonly process: RunningProcess;
  readonly isRunning: boolean;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again if it does not run; resolves when it serves. */
  start(): Promise<void>;
}

/** A member that clients call. */
export interface GatewayMember extends Member {
  url(): string;
}

export interface StdioServer {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** Where a world's processes are installed: a folder, a private Redis, and for each process a way of its own to it. */
export interface Installation {
  readonly processes: Processes;
  readonly redis: TestRedis;
  /** The test's own connection: raw access, as a person or a dashboard has it. */
  readonly hand: Redis;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Not started yet, as gateways; `more`: environment beside that of the installation. */
  worker(name: string, more?: NodeJS.ProcessEnv): Promise<Member>;
  gateway(name: string, more?: NodeJS.ProcessEnv): Promise<GatewayMember>;
  /** A new stdio process, with a worker in it as users have it. */
  stdio(more?: NodeJS.ProcessEnv): Promise<StdioClient>;
  /** The same for a client that starts the process itself. */
  stdioServer(): Promise<StdioServer>;
  /** A client's pipe to the background broker, which it shares with all others of these. */
  pipe(): Promise<StdioClient>;
  /** The same for a client that starts the pipe itself. */
  sharingServer(): Promise<StdioServer>;
  /** What these share. */
  readonly broker: SharedBroker;
  /** Ends everything, also where it never began to serve; answers what did not end as it should, or is left. */
  close(): Promise<string[]>;
}

/** Short, so that a dead owner is replaced soon; long enough for a machine whose cores are all busy. */
const FAST = {
  UNITY_BROKER_LEASE_MS: "1000",
  UNITY_BROKER_JOB_LOCK_MS: "1500",
  UNITY_BROKER_ACK_DELAY_MS: "200",
  UNITY_BROKER_SWEEP_MS: "500",
  UNITY_BROKER_SAFETY_POLL_MS: "2000",
  UNITY_BROKER_LOG_LEVEL: "debug",
  UNITY_BROKER_ANSWERS: "full",
};

export interface InstallationOptions {
  /** On top of the fast timings; an empty value gives the default of an installation back. */
  env?: Record<string, string>;
  /** Starts what does not begin to serve again, as a supervisor does: its store may be away. Else that is a fault. */
  isSupervised?: boolean;
}

/** A command that was on its way when the server was killed may never be answered. */
const HAND_MS = 10_000;

export async function openInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-world-"));
  const redis = await startTestRedis();
  const patience = { retryStrategy: () => 100, maxRetriesPerRequest: null, commandTimeout: HAND_MS };
  const hand = new Redis({ ...redis.connection, ...patience });
  hand.on("error", () => undefined);
  const processes = createProcesses();
  const env = environment(folder, options.env);
  const lines: RedisLine[] = [];
  /** Names of processes that ended before they served. */
  const unserved = new Set<string>();
  let starts = 0;

  const layLine = async (): Promise<RedisLine> => {
    const line = await layRedisLine(redis.connection);
    lines.push(line);
    return line;
  };
  const broker = createSharedBroker(env, processes, layLine);
  const begin = async <T>(
    name: string,
    args: string[],
    own: NodeJS.ProcessEnv,
    serves: (started: RunningProcess) => Promise<T>,
  ): Promise<{ started: RunningProcess; answer: T }> => {
    starts += 1;
    const started = processes.start(`${name} (start ${starts})`, args, { ...env, ...own });
    try {
      return { started, answer: await serves(started) };
    } catch (error) {
      if (options.isSupervised) unserved.add(started.name);
      throw error;
    }
  };
  const supervised: typeof begin = async (...process) => {
    for (;;) {
      try {
        return await begin(...process);
      } catch (error) {
        if (!options.isSupervised) throw error;
      }
    }
  };

  return {
    ...{ processes, redis, hand, folder, env, broker },
    async worker(name, more) {
      const line = await layLine();
      const own = { ...more, REDIS_URL: line.url };
      return createMember(
        line,
        async () =>
          (await supervised(name, ["worker"], own, (started) => started.line(/^Worker for/))).started,
      );
    },
    async gateway(name, more) {
      const line = await layLine();
      const own = { ...more, REDIS_URL: line.url };
      let url = "http://127.0.0.1:0";
      const member = createMember(line, async () => {
        // Clients come back to the address that they know.
        const args = ["gateway", "--port", new URL(url).port, "--insecure-local"];
        const served = (started: RunningProcess) => started.line(/^MCP endpoint: (.*)$/);
        const { started, answer } = await supervised(name, args, own, served);
        url = answer[1] ?? "";
        return started;
      });
      return Object.assign(member, { url: () => url });
    },
    async stdio(more) {
      const own = { ...more, REDIS_URL: (await layLine()).url };
      return (await begin("mcp", ["mcp"], own, openStdioClient)).answer;
    },
    async stdioServer() {
      return serverWith({ ...env, REDIS_URL: (await layLine()).url });
    },
    pipe: async () => (await begin("pipe", ["mcp"], await broker.environment(), openStdioClient)).answer,
    sharingServer: async () => serverWith(await broker.environment()),
    async close() {
      const faults = await processes.close();
      faults.push(...(await endBrokers(env)));
      for (const line of lines) await line.close();
      try {
        faults.push(...(await leftInRedis(hand, env)), ...(await faultsOfTimes(hand)));
      } finally {
        hand.disconnect();
        await redis.stop();
        rmSync(folder, { recursive: true, force: true });
      }
      return faults.filter(
        (fault) => ![...unserved].some((name) => fault.startsWith(`${name} ended unasked`)),
      );
    },
  };
}

/** A clean environment: nothing of the machine's own Unity Editors, Redis or configuration. */
export function environment(folder: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(UNITY_BROKER_|REDIS_URL|NODE_OPTIONS|VITEST|NODE_ENV)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    UNITY_BROKER_EDITORS_DIR: join(folder, "editors"),
    // Each client is a process of its own way to Redis, unless a test says otherwise (brokers.ts).
    UNITY_BROKER_BACKGROUND: "false",
    ...FAST,
    ...extra,
  };
}

function serverWith(env: NodeJS.ProcessEnv): StdioServer {
  const values = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? ""]));
  return { command: process.execPath, args: [MAIN, "mcp"], env: values };
}

function createMember(line: RedisLine, begin: () => Promise<RunningProcess>): Member {
  let current: RunningProcess | undefined;
  return {
    line,
    get process() {
      if (!current) throw new Error("it was never started");
      return current;
    },
    get isRunning() {
      return current?.isRunning === true;
    },
    async kill() {
      await current?.kill("SIGKILL");
    },
    async start() {
      line.fix();
      if (current?.isRunning) return;
      current = await begin();
    },
  };
}

/** Operations that nobody will end, and leases of owners that are gone: a dead owner's lease runs out by itself. */
async function leftInRedis(hand: Redis, { UNITY_BROKER_LEASE_MS }: NodeJS.ProcessEnv): Promise<string[]> {
  const open = await hand.keys("{ujb}:open:*");
  const leases = await until(
    "the leases of killed owners have run out",
    async () => {
      const left = await hand.keys("{ujb}:lease:*");
      return left.length === 0 && left;
    },
    2 * Number(UNITY_BROKER_LEASE_MS || FAST.UNITY_BROKER_LEASE_MS),
  ).catch(() => hand.keys("{ujb}:lease:*"));
  return [...open, ...leases].map((key) => `left in Redis: ${key}`);
}
