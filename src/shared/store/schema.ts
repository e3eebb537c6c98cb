/**
 * The schema's major version, and what happens when brokers of two versions use one store.
 *
 * A store keeps the number of the release that began it. A broker of another number refuses to start, and says what to do. One that
 * is already running when the store was emptied and begun by a newer release becomes harmless: the scripts that write operations and
 * that take or renew a lease refuse it. It does not exit: the client that started it would only start the same version again.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { BrokerError } from "../errors.js";
import { keys, SCHEMA_VERSION } from "./keys.js";

const REFUSAL = "UJBNEWER";

/** The first lines of a script that a process of an older version must not run; `key` is its KEYS entry. */
export function guard(key: string): string {
  return `
local schema = redis.call('GET', ${key}) or '0'
if tonumber(schema) > ${SCHEMA_VERSION} then return redis.error_reply('${REFUSAL} ' .. schema) end`;
}

/** Awaits a guarded script; rejects with STORE_UNFIT if the guard refused. */
export async function guarded<T>(script: Promise<T>): Promise<T> {
  try {
    return await script;
  } catch (error) {
    const schema = new RegExp(`${REFUSAL} (\\d+)`).exec((error as Error).message)?.[1];
    throw schema === undefined ? error : newerBroker(schema, error);
  }
}

/** KEYS 1 schema, 2 store id; ARGV 1 our version, 2 an id for a new store. Answer: the schema, the store id. */
const CLAIM = `
redis.call('SETNX', KEYS[1], ARGV[1])
local schema = redis.call('GET', KEYS[1])
if schema == ARGV[1] then redis.call('SETNX', KEYS[2], ARGV[2]) end
return {schema, redis.call('GET', KEYS[2]) or ''}
`;

/**
 * Claims the store, and answers its id. A store that was emptied gets back the id by which the Editors know it. Rejects with
 * STORE_UNFIT if its schema is another.
 */
export async function claimStore(redis: Redis, knownId: string = randomUUID()): Promise<string> {
  const answer = await redis.eval(CLAIM, 2, keys.schema, keys.storeId, SCHEMA_VERSION, knownId);
  const [schema, storeId] = answer as [string, string];
  if (Number(schema) > SCHEMA_VERSION) throw newerBroker(schema);
  if (Number(schema) < SCHEMA_VERSION) throw olderStore(schema);
  return storeId;
}

function olderStore(schema: string): BrokerError {
  return new BrokerError(
    "STORE_UNFIT",
    `This Redis holds the operations of an earlier release (schema ${schema}), which this one (schema ${SCHEMA_VERSION}) does not read. Empty it with FLUSHDB, or name another one in REDIS_URL; the private Redis of this machine: unity-broker down, then delete the folder redis of its data directory.`,
  );
}

function newerBroker(schema: string, cause?: unknown): BrokerError {
  return new BrokerError(
    "STORE_UNFIT",
    `A newer broker (schema ${schema}) uses this Redis; this one supports schema ${SCHEMA_VERSION}. Install that release here too, from the source you installed this one from.`,
    {},
    cause,
  );
}
