/**
 * The schema's major version, and what it means where brokers of two versions meet on one store.
 *
 * A broker raises the number when it starts. One that knows only a lower number does not start, and says how to
 * upgrade. One that runs already is harmless from that moment: the script that writes operations and those that take
 * and keep a lease refuse it, so it accepts nothing more, its leases run out, and the Editors keep what they execute
 * for the newer worker, which collects it. It still reads, and tells every caller the command; it does not end, since
 * the client that started it would only start the same version again.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { BrokerError } from "../errors.js";
import { FIRST_INCARNATION } from "./incarnation.js";
import { keys, SCHEMA_VERSION } from "./keys.js";

const REFUSAL = "UJBNEWER";

/** The first line of a script that a process of an older version may not run; `key` is its KEYS entry. */
export function guard(key: string): string {
  return `
local schema = redis.call('GET', ${key}) or '0'
if tonumber(schema) > ${SCHEMA_VERSION} then return redis.error_reply('${REFUSAL} ' .. schema) end`;
}

/** Awaits a guarded script; rejects with STORE_UNFIT where its guard refused. */
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
 * whose schema knew none. Answer: the schema before, the store id.
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
 * Makes the store ours or raises its schema to ours; gives its id. One that was emptied gets the id back by which
 * Editors know it. Rejects with STORE_UNFIT where it is newer.
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
    `A newer broker (schema ${schema}) uses this Redis; this one knows ${SCHEMA_VERSION}. Install that release here too, from where you got it.`,
    {},
    cause,
  );
}
