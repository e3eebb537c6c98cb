/**
 * Checks from Redis' own answers whether it can be trusted with operations. A Redis that would lose them or cannot work
 * is refused; one that only weakens the promise is reported (docs/guide/reliability.md).
 */
import { BrokerError } from "../errors.js";

/** A setting that weakens the promise. */
export interface Concern {
  says: string;
  /** The arguments of `redis-cli` that fix it, if a command can. */
  fix?: string;
}

export interface RedisCheck {
  /** Server, version and durability, in a few words. */
  describes: string;
  concerns: Concern[];
}

/** Arguments of `redis-cli` that messages quote. */
export const NO_EVICTION = "CONFIG SET maxmemory-policy noeviction";

const OLDEST = [6, 2] as const;

/**
 * `info`: the answer to INFO. `appendfsync`: the setting, undefined if the server does not report it (managed services
 * forbid CONFIG). Throws STORE_UNFIT.
 */
export function checkRedis(info: string, appendfsync: string | undefined): RedisCheck {
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim() ?? "";
  if (field("redis_mode") === "sentinel") {
    throw unfit(
      "This is a Sentinel, which stores nothing. Set REDIS_URL to redis+sentinel://host1:26379,host2:26379/<name>, with the name of the master that it watches.",
    );
  }
  const valkey = field("valkey_version");
  const version = valkey || field("redis_version");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw unfit(`Redis ${version} is too old. Use Redis ${OLDEST.join(".")} or later, or Valkey.`);
  }
  if (field("role") === "slave") {
    const master = `${field("master_host")}:${field("master_port")}`;
    throw unfit(
      `This Redis is a replica of ${master}. Set REDIS_URL to the master. If the master is gone for good, make this one the master: \`REPLICAOF NO ONE\`.`,
    );
  }
  const policy = field("maxmemory_policy");
  if (policy && policy !== "noeviction") {
    throw unfit(`Redis evicts data (maxmemory-policy ${policy}). Run \`${NO_EVICTION}\`.`);
  }

  const concerns: Concern[] = [];
  const appends = field("aof_enabled") !== "0";
  if (!appends) {
    concerns.push({
      says: "Redis has no AOF (appendonly no): writes since its last snapshot are lost when it stops.",
      fix: "CONFIG SET appendonly yes",
    });
  } else if (appendfsync === "no") {
    concerns.push({
      says: "The operating system decides when writes reach the disk (appendfsync no): a crash of the machine loses up to half a minute.",
      fix: "CONFIG SET appendfsync everysec",
    });
  }
  if (appends && field("aof_last_write_status") === "err") {
    concerns.push({ says: "Redis could not write its AOF: is its disk full?" });
  }
  if (field("cluster_enabled") === "1") {
    concerns.push({
      says: "This Redis is a node of a Cluster. The whole store is in one slot, which this node holds. The broker does not follow a failover or a move of that slot: after one, restart the broker with the REDIS_URL of the node that holds it.",
    });
  }
  const survives = appends ? `AOF ${appendfsync ?? "(appendfsync unknown)"}` : "no AOF";
  return { describes: `${valkey ? "Valkey" : "Redis"} ${version}, ${survives}`, concerns };
}

/** This node of a Cluster does not serve our slot; undefined for any other error. */
export function elsewhereInCluster(error: unknown): BrokerError | undefined {
  const message = error instanceof Error ? error.message : "";
  const node = /^(?:MOVED|ASK) \d+ (\S+)/.exec(message)?.[1];
  if (node !== undefined)
    return unfit(
      `This node of a Cluster does not serve the broker's slot. Set REDIS_URL to ${node}, which does.`,
    );
  return message.startsWith("CLUSTERDOWN")
    ? unfit(`The Cluster does not serve the broker's slot (${message}).`)
    : undefined;
}

function unfit(message: string): BrokerError {
  return new BrokerError("STORE_UNFIT", message);
}
