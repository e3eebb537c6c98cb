/**
 * Whether a Redis can be trusted with operations, by its own account. Refused is what would lose them or cannot work;
 * what only weakens the promise is told (docs/reliability.md).
 */
import { BrokerError } from "../errors.js";

/** What makes the promise weaker than it could be. */
export interface Concern {
  says: string;
  /** The arguments of `redis-cli` that mend it, where a command can. */
  mend?: string;
}

export interface Fitness {
  /** Server, version, and what survives its crash, in a few words. */
  describes: string;
  concerns: Concern[];
}

/** Arguments of `redis-cli`, to find in a message. */
export const NO_EVICTION = "CONFIG SET maxmemory-policy noeviction";

const OLDEST = [6, 2] as const;

/**
 * `info`: the answer to INFO. `appendfsync`: the setting, undefined where the server does not tell it (managed
 * services forbid CONFIG). Throws STORE_UNFIT.
 */
export function fitnessOf(info: string, appendfsync: string | undefined): Fitness {
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim() ?? "";
  if (field("redis_mode") === "sentinel") {
    throw unfit(
      "This is a Sentinel, which stores nothing: REDIS_URL names the master that it watches (`SENTINEL GET-MASTER-ADDR-BY-NAME <name>`).",
    );
  }
  const valkey = field("valkey_version");
  const version = valkey || field("redis_version");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw unfit(`Redis ${version} is too old: ${OLDEST.join(".")} or Valkey is needed.`);
  }
  if (field("role") === "slave") {
    const master = `${field("master_host")}:${field("master_port")}`;
    throw unfit(
      `This Redis is a replica of ${master}: REDIS_URL names the master. If that is gone for good, make this one the master: \`REPLICAOF NO ONE\`.`,
    );
  }
  const policy = field("maxmemory_policy");
  if (policy && policy !== "noeviction") {
    throw unfit(`Redis evicts data (maxmemory-policy ${policy}): \`${NO_EVICTION}\`.`);
  }

  const concerns: Concern[] = [];
  const appends = field("aof_enabled") !== "0";
  if (!appends) {
    concerns.push({
      says: "Redis has no AOF (appendonly no): what it was told since its last snapshot is lost when it stops.",
      mend: "CONFIG SET appendonly yes",
    });
  } else if (appendfsync === "no") {
    concerns.push({
      says: "Redis leaves it to the operating system when a write reaches the disk (appendfsync no): a crash of the machine loses up to half a minute.",
      mend: "CONFIG SET appendfsync everysec",
    });
  }
  if (appends && field("aof_last_write_status") === "err") {
    concerns.push({ says: "Redis could not write its AOF: is its disk full?" });
  }
  if (field("cluster_enabled") === "1") {
    concerns.push({
      says: "This Redis is a node of a Cluster. The whole store is in one slot, so this node has all of it; a failover or a move of that slot is not followed: then start the broker again with the REDIS_URL of the node that has it.",
    });
  }
  const survives = appends ? `AOF ${appendfsync ?? "(appendfsync not told)"}` : "no AOF";
  return { describes: `${valkey ? "Valkey" : "Redis"} ${version}, ${survives}`, concerns };
}

/** The node of a Cluster that was asked has not got our slot; undefined for any other error. */
export function elsewhereInCluster(error: unknown): BrokerError | undefined {
  const message = error instanceof Error ? error.message : "";
  const node = /^(?:MOVED|ASK) \d+ (\S+)/.exec(message)?.[1];
  if (node !== undefined)
    return unfit(`This node of a Cluster has not got the broker's slot: REDIS_URL names ${node}, which has.`);
  return message.startsWith("CLUSTERDOWN")
    ? unfit(`The Cluster does not serve the broker's slot (${message}).`)
    : undefined;
}

function unfit(message: string): BrokerError {
  return new BrokerError("STORE_UNFIT", message);
}
