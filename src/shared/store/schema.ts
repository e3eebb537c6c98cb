/**
 * The schema's major version, and what happens when brokers of two versions use one store.
 *
 * A broker raises the number when it starts. A broker that knows only a lower number refuses to start, and says how to
 * upgrade. One that is already running becomes harmless at that moment: the scripts that write operations and that take
 * or renew a lease refuse it. So it accepts nothing more, its leases expire, and the Editors keep their outcomes for the
 * newer worker, which collects them. It still reads, and gives every caller the upgrade command. It does not exit: the
 * client that started it would only start the same version again.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { BrokerError } from "../errors.js";
import { FIRST_INCARNATION } from "./incarnation.js";
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

/**
 * KEYS 1 schema, 2 store id, 3 incarnation; ARGV 1 our version, 2 an id for a new store, 3 the incarnation of a store
 * whose schema had none. Answer: the schema before, the store id.
 */
const CLAIM = `
local schema = redis.call('GET', KEYS[1]) or '0'
if schema ~= '0' and redis.call('EXISTS', KEYS[3]) == 0 and tonumber(schema) < 3 then
  redis.call('HSET', KEYS[3], 'id', ARGV[3], 'run', string.match(redis.call('INFO', 'server'), 'run_id:(%x+)'))
end
if tonumber(schema) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('SETNX', KEYS[2], ARGV[2])
return {schema, redis.call('GET', KEYS[2])}
`;

/**
 * Claims the store, or raises its schema to ours, and answers its id. A store that was emptied gets back the id by which
 * the Editors know it. Rejects with STORE_UNFIT if its schema is newer.
 */
export async function claimStore(redis: Redis, knownId: string = randomUUID()): Promise<string> {
  const answer = await redis.eval(
    CLAIM,
    3,
    keys.schema,
    keys.storeId,
    keys.incarnation,
    SCHEMA_VERSION,
    knownId,
    FIRST_INCARNATION,
  );
  const [schema, storeId] = answer as [string, string];
  if (Number(schema) > SCHEMA_VERSION) throw newerBroker(schema);
  return storeId;
}

function newerBroker(schema: string, cause?: unknown): BrokerError {
  return new BrokerError(
    "STORE_UNFIT",
    `A newer broker (schema ${schema}) uses this Redis; this one supports schema ${SCHEMA_VERSION}. Install that release here too, from the source you installed this one from.`,
    {},
    cause,
  );
}
