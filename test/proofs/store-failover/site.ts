/** A master, a replica, and three Sentinels that watch them. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { throughSentinels } from "../../../src/shared/store/connect.js";
import { keys } from "../../../src/shared/store/keys.js";
import { createProcesses, until } from "../../harness/processes/processes.js";
import { createRedis, type RedisSettings, SETTINGS, type Server } from "../../harness/redis/redis-site.js";
import { layCable } from "../../harness/system/cable.js";

const NAME = "main";
const SENTINELS = 3;

export type Strike = "is killed" | "stands still";

/** Of an operation, as a server has it; undefined: it does not know it. */
export type StateAt = (logId: string) => string | undefined;

export interface SentinelSite {
  /** For REDIS_URL. */
  readonly url: string;
  /** A connection that follows the master. */
  readonly hand: Redis;
  /** From now on the replica gets nothing more from the master. */
  fallBehind(): void;
  /** The operations of the master, then of the replica, which is what the next master begins with. */
  strike(how: Strike): Promise<{ before: Map<string, string>; after: Map<string, string> }>;
  /** Resolves when a Sentinel names the other one. */
  promoted(): Promise<void>;
  /** The former master comes back, with what it knew; resolves when it has become a replica. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** `downAfterMs`: how long a server is silent before a Sentinel takes it for dead. */
export async function startSentinelSite({ downAfterMs }: { downAfterMs: number }): Promise<SentinelSite> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-sentinels-"));
  const processes = createProcesses();
  const servers: Server[] = [];
  const add = async (name: string, settings: RedisSettings, ...flags: string[]): Promise<Server> => {
    const directory = join(folder, name);
    mkdirSync(directory);
    const server = await createRedis(directory, settings, processes.guard, flags);
    servers.push(server);
    return server;
  };
  const master = await add("first", SETTINGS);
  const replica = await add("second", SETTINGS);
  const link = await layCable(() => ({ host: "127.0.0.1", port: master.port }));
  await replica.ask("REPLICAOF", "127.0.0.1", String(link.port));
  const isInStep = async (of: Server): Promise<boolean> =>
    String(await of.ask("INFO", "replication")).includes("master_link_status:up");
  await until("the replica is in step", () => isInStep(replica));
  const watching = {
    [`sentinel monitor ${NAME}`]: `127.0.0.1 ${master.port} 2`,
    [`sentinel down-after-milliseconds ${NAME}`]: String(downAfterMs),
    // For less a Sentinel would have the replica leave its link, which is not the master's own address.
    [`sentinel failover-timeout ${NAME}`]: "60000",
  };
  const sentinels: Server[] = [];
  for (let at = 1; at <= SENTINELS; at += 1)
    sentinels.push(await add(`sentinel-${at}`, { bind: "127.0.0.1", ...watching }, "--sentinel"));
  const knows = async (sentinel: Server): Promise<boolean> => {
    const answer = (await sentinel.ask("SENTINEL", "MASTER", NAME)) as string[];
    const field = (name: string): string | undefined => answer[answer.indexOf(name) + 1];
    return field("num-other-sentinels") === String(SENTINELS - 1) && field("num-slaves") === "1";
  };
  for (const sentinel of sentinels)
    await until("every Sentinel knows the others and the replica", () => knows(sentinel));

  const addresses = sentinels.map(({ port }) => ({ host: "127.0.0.1", port }));
  const hand = new Redis({
    ...throughSentinels(addresses, NAME),
    ...{ retryStrategy: () => 100, maxRetriesPerRequest: null },
  });
  hand.on("error", () => undefined);
  let how: Strike | undefined;

  return {
    url: `redis+sentinel://${addresses.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${NAME}`,
    hand,
    fallBehind: link.hold,
    async strike(given) {
      how = given;
      const before = await operationsOf(master);
      if (how === "is killed") await master.kill();
      else master.signal("SIGSTOP");
      link.cut();
      return { before, after: await operationsOf(replica) };
    },
    async promoted() {
      await until(
        "a Sentinel names the replica",
        async () => {
          const asked = sentinels.map((each) => each.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME));
          const named = (await Promise.all(asked)) as [string, string][];
          return named.some(([, port]) => port === String(replica.port));
        },
        60_000,
      );
    },
    async comeBack() {
      if (how === "is killed") await master.start();
      else master.signal("SIGCONT");
      await until("the former master is a replica", () => isInStep(master), 60_000);
    },
    async close() {
      hand.disconnect();
      master.signal("SIGCONT");
      for (const server of servers.toReversed()) await server.kill();
      await link.close();
      await processes.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Each with its state. */
async function operationsOf({ port }: Server): Promise<Map<string, string>> {
  const redis = new Redis({ port, maxRetriesPerRequest: 1 });
  redis.on("error", () => undefined);
  try {
    const prefix = keys.operation("");
    const found = await redis.keys(`${prefix}*`);
    const documents = await Promise.all(found.map((key) => redis.hget(key, "doc")));
    return new Map(
      found.map((key, at) => [key.slice(prefix.length), JSON.parse(documents[at] ?? "{}").state as string]),
    );
  } finally {
    redis.disconnect();
  }
}
