/**
 * A place that runs Redis for a broker: servers with the settings that a test is about, behind one address that moves
 * when another becomes the master, as a name in a failover does. Servers listen on TCP: replicas need it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { awaitAnswer } from "../../../src/embedded-redis/redis-probe.js";
import { logFile, logTail } from "../../../src/embedded-redis/server.js";
import { eventually } from "../eventually.js";
import { createProcesses } from "../processes/processes.js";
import { type Cable, layCable } from "../system/cable.js";
import { redisHere, type TestRedis } from "./redis.js";

/** Lines of redis.conf. */
export type RedisSettings = Readonly<Record<string, string>>;

export interface Replica {
  readonly port: number;
  /** From now on it replicates nothing: writes to the master are lost if this one takes its place. */
  fallBehind(): void;
  /** Resolves when it has everything that the master has. */
  catchUp(): Promise<void>;
}

export interface RedisSite extends TestRedis {
  /** One command to the present master, over a connection of its own. */
  ask(...command: string[]): Promise<unknown>;
  /** Changes a setting for this and every later start of the master. */
  set(name: string, value: string): Promise<void>;
  /** Resolves when the AOF has what was answered: behind a slow fsync Redis holds writes back, for two seconds at most. */
  written(): Promise<void>;
  /** Adds a replica that is up to date. */
  addReplica(): Promise<Replica>;
  /** The replica takes the master's place and its address. */
  promote(how: "the master is dead" | "the master becomes its replica"): Promise<void>;
}

/** Of a master and of its replicas. */
export const SETTINGS: RedisSettings = {
  bind: "127.0.0.1",
  "maxmemory-policy": "noeviction",
  appendonly: "yes",
  appendfsync: "everysec",
  save: '""',
  "repl-diskless-sync": "yes",
  "repl-diskless-sync-delay": "0",
};

export async function startRedisSite(given: RedisSettings = {}): Promise<RedisSite> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-site-"));
  const processes = createProcesses();
  const servers: Server[] = [];

  const add = async (): Promise<Server> => {
    const directory = join(folder, `server-${servers.length}`);
    mkdirSync(directory);
    const server = await createRedis(directory, { ...SETTINGS, ...given }, processes.guard);
    servers.push(server);
    return server;
  };
  let master = await add();
  let replica: { server: Server; link: Cable } | undefined;
  const address = await layCable(() => ({ host: "127.0.0.1", port: master.port }));

  const site: RedisSite = {
    connection: { host: "127.0.0.1", port: address.port },
    ask: (...command) => master.ask(...command),
    async set(name, value) {
      master.settings[name] = value;
      await master.ask("CONFIG", "SET", name, value);
    },
    async flush() {
      await master.ask("FLUSHALL");
    },
    kill: () => master.kill(),
    async restart() {
      await master.kill();
      await master.start();
    },

    async written() {
      const info = async () => String(await master.ask("INFO", "persistence"));
      await eventually(async () => (await info()).includes("aof_buffer_length:0\r"), "the AOF is written");
    },

    async addReplica() {
      const server = await add();
      const source = master;
      const link = await layCable(() => ({ host: "127.0.0.1", port: source.port }));
      await server.ask("REPLICAOF", "127.0.0.1", String(link.port));
      replica = { server, link };
      const catchUp = async (): Promise<void> => {
        const offset = async (of: Server): Promise<string> => {
          const info = String(await of.ask("INFO", "replication"));
          return /^master_repl_offset:(\d+)/m.exec(info)?.[1] ?? "";
        };
        await eventually(async () => {
          const said = String(await server.ask("INFO", "replication"));
          return said.includes("master_link_status:up") && (await offset(server)) === (await offset(source));
        }, "the replica has everything");
      };
      await catchUp();
      return { port: server.port, fallBehind: link.hold, catchUp };
    },

    async promote(how) {
      if (!replica) throw new Error("there is no replica");
      const { server, link } = replica;
      const former = master;
      if (how === "the master is dead") await former.kill();
      await server.ask("REPLICAOF", "NO", "ONE");
      await link.close();
      master = server;
      replica = undefined;
      // Connections to the former master stand, and learn by its refusals that it is one no longer.
      if (how === "the master becomes its replica") {
        await former.ask("REPLICAOF", "127.0.0.1", String(server.port));
      }
    },

    async copy() {
      const { directory } = master;
      await site.written();
      const kept = `${directory}.copy-${process.hrtime.bigint()}`;
      cpSync(directory, kept, { recursive: true });
      return kept;
    },

    async restore(copy) {
      const { directory } = master;
      await master.kill();
      rmSync(directory, { recursive: true });
      cpSync(copy, directory, { recursive: true });
      await master.start();
    },

    async stop() {
      await Promise.all([address.close(), replica?.link.close()]);
      for (const server of servers) await server.kill();
      await processes.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return site;
}

export interface Server {
  readonly port: number;
  readonly directory: string;
  readonly settings: Record<string, string>;
  /** One command, over a connection of its own. */
  ask(...command: string[]): Promise<unknown>;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void;
}

/** Starts one server; `flags` follow the configuration file (`--sentinel`). */
export async function createRedis(
  directory: string,
  given: RedisSettings,
  guard: (pid: number) => void,
  flags: readonly string[] = [],
): Promise<Server> {
  const binary = await redisHere();
  const port = await freePort();
  const settings: Record<string, string> = { ...given };
  // By itself 10000 above the other, which may be too high.
  if (settings["cluster-enabled"] === "yes") settings["cluster-port"] = String(await freePort());
  let child: ChildProcess | undefined;

  const server: Server = {
    port,
    directory,
    settings,
    async ask(...command) {
      const redis = new Redis({ host: "127.0.0.1", port, maxRetriesPerRequest: 1 });
      redis.on("error", () => undefined);
      try {
        const [name = "", ...rest] = command;
        return await redis.call(name, rest);
      } finally {
        redis.disconnect();
      }
    },
    async start() {
      const lines = Object.entries({
        ...settings,
        port: String(port),
        dir: directory,
        logfile: logFile(directory),
      });
      const file = join(directory, "redis.conf");
      writeFileSync(file, `${lines.map((line) => line.join(" ")).join("\n")}\n`);
      const started = spawn(binary.file, [file, ...flags], {
        stdio: "ignore",
        env: withLibraries(process.env, binary.libraryPath),
      });
      child = started;
      guard(started.pid ?? 0);
      const answer = await awaitAnswer({ host: "127.0.0.1", port }, () => started.exitCode === null);
      if (answer !== "ready") throw new Error(`Redis did not start (${answer}):\n${logTail(directory)}`);
    },
    async kill() {
      const ending = child;
      child = undefined;
      if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
      const gone = once(ending, "exit");
      ending.kill("SIGKILL");
      await gone;
    },
    signal: (signal) => void child?.kill(signal),
  };
  await server.start();
  return server;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
