/**
 * Every key and channel, with type and lifetime, on one page. One hash tag keeps all of them, including BullMQ's, in one
 * slot, so that a script may touch several. In flight = no expiry; retention = 24 h by default, from the end. Stores live
 * longer than names: a key whose name differs from its property keeps the name that an earlier release gave it.
 */
import type { Lane } from "../tools/tool.js";

const TAG = "{ujb}";

/** How long after its retention an operation is still known to have existed, ms. */
export const TOMBSTONE_MS = 7 * 24 * 3_600_000;

/** BullMQ's own keys: `{ujb}:bull:<editor>.<lane>:…`; ended jobs are removed after the retention, or when there are more than a thousand. */
export const BULL_PREFIX = `${TAG}:bull`;

/** ":" separates the parts of BullMQ's keys. */
export function queueName(editor: string, lane: Lane): string {
  return `${editor.replaceAll(":", "_")}.${lane}`;
}

export const keys = {
  /** STRING, for ever: the schema's major version. */
  schema: `${TAG}:schema`,
  /** STRING, for ever: a random id of this store, sent to Editors in hello. */
  storeId: `${TAG}:store-id`,

  /** STRING, for ever: the secret that signs what clients carry from one request to the next (store.ts). */
  clientStateKey: `${TAG}:client-state-key`,

  /** HASH, for ever: id, run, before, orderly (schema.ts). */
  incarnation: `${TAG}:incarnation`,

  /**
   * STRING, in flight, then 3 × retention after the last end: JSON with version, newest, at:<editor>, began:<editor>,
   * forced:<log_id>. Links to records that are gone are dropped when later operations are added (limits.ts).
   */
  chain: (hash: string) => `${TAG}:chain:${hash}`,
  /** HASH, retention: doc (the record as JSON), mutationSeq, turn, arguments (JSON), result (one that has a single piece). */
  operation: (logId: string) => `${TAG}:operation:${logId}`,
  /** LIST, retention: the pieces of a large result (record.ts). */
  result: (logId: string) => `${TAG}:result:${logId}`,
  /** LIST, a minute after the last piece: a large result being uploaded (record.ts). */
  uploaded: (id: string) => `${TAG}:staged:${id}`,
  /**
   * HASH, 1 to 2 × retention after the last result: the account of stored results, bytes (limits.ts): `all`; `of:<principal>`; those that
   * end together, `until:<end>:<principal>`.
   */
  resultRoom: `${TAG}:result-room`,
  /** ZSET by the end of retention, ms, as long as resultRoom: the names of what ends together. */
  resultEnds: `${TAG}:result-ends`,
  /** HASH, as resultRoom, for the stored arguments, 3 to 6 × retention after the last creation; `open`: those of operations in flight. */
  argumentRoom: `${TAG}:argument-room`,
  /** ZSET, as long as argumentRoom. */
  argumentEnds: `${TAG}:argument-ends`,
  /** STRING with a short time to live: a result of this principal is waiting for room. */
  roomWanted: (principal: string) => `${TAG}:room-wanted:${principal}`,
  /**
   * HASH, 30 min since the last use: a document filtered from a result (filtered-results.ts): principal, about (JSON), data.
   */
  filtered: (id: string) => `${TAG}:derived:${id}`,
  /** ZSET by the time of the last use, ms: a principal's filtered documents, each as "id bytes". */
  filteredUse: (principal: string) => `${TAG}:derived-use:${principal}`,
  /** HASH by principal: the bytes of its filtered documents. */
  filteredShares: `${TAG}:derived-shares`,
  /**
   * HASH, retention: progress, partial (JSON each), overwritten while it runs; truncated (a partial result was too large);
   * when they were reported (<kind>:first, :last, :count); lines, batch (console-lines.ts).
   */
  live: (logId: string) => `${TAG}:live:${logId}`,
  /** LIST, retention after the last line, the newest 500: what the Console said while it ran (console-lines.ts), JSON each. */
  log: (logId: string) => `${TAG}:log:${logId}`,
  /**
   * ZSET by the time of the last write, ms, 3 × retention after the last: the log_ids of the partial results, and "log:"
   * before those of Console lines (partials.ts).
   */
  partialUse: `${TAG}:partial-use`,
  /** HASH by log_id, as partialUse: their bytes, and the total. */
  partialBytes: `${TAG}:partial-bytes`,
  /** LIST, 3 × retention after the last entry, the newest 100: the calls that found this operation (JSON). */
  duplicates: (logId: string) => `${TAG}:duplicates:${logId}`,
  /**
   * STRING, in flight, then retention + 7 days: the principal; tells an operation whose retention ended from one that the store
   * lost, and from one that never existed.
   */
  tombstone: (logId: string) => `${TAG}:tombstone:${logId}`,
  /**
   * ZSET by acceptedAt: the log_ids of a principal. Kept while any is in flight, then 3 × retention, and trimmed to that
   * age.
   */
  principal: (principal: string) => `${TAG}:principal:${principal}`,
  /** ZSET by acceptedAt, 3 to 6 × retention after the last: the hashes of a principal's calls. One without a chain has lost it. */
  hashes: (principal: string) => `${TAG}:hashes:${principal}`,
  /** ZSET by the time of the last acceptance, ms, 3 to 6 × retention after it: the principals that have operations. */
  principals: `${TAG}:principals`,
  /** STREAM, 1 to 2 × retention after the last event, about the newest 10 000: the events of all operations (events.ts). */
  events: `${TAG}:events`,
  /** ZSET by acceptedAt: the operations of an Editor that have not ended. */
  open: (editor: string) => `${TAG}:open:${editor}`,

  /** ZSET by the time of the last acceptance, ms: the pools that something was accepted for, for the retention (pools.ts). */
  pools: `${TAG}:pools`,
  /** ZSET by the time of the last sign of life: the known Editors, removed when unseen for the retention. */
  editors: `${TAG}:editors`,
  /** SET, in flight: a principal's log_ids that were accepted but not sent. */
  waiting: (principal: string) => `${TAG}:waiting:${principal}`,
  /** HASH, in flight: a principal's log_ids that were sent and have not ended, with their Editors (limits.ts). */
  sent: (principal: string) => `${TAG}:sent:${principal}`,
  /** HASH, in flight: a principal's log_ids that are held back by its limit (limits.ts). */
  held: (principal: string) => `${TAG}:held:${principal}`,
  /** HASH, in flight: the log_ids that use a resource of which there are few, with their Editors (limits.ts). */
  resource: (name: string) => `${TAG}:resource:${name}`,
  /** HASH, in flight: those that wait for it, as `held`. */
  resourceWanted: (name: string) => `${TAG}:resource-wanted:${name}`,
  /**
   * HASH, 3 to 6 × retention after the last write, at most until nothing is open on the Editor: sent, highest,
   * last:<principal> (limits.ts).
   */
  turns: (queue: string) => `${TAG}:turns:${queue}`,
  /** BullMQ's own keys, by BullMQ's names: until the Editor is forgotten and has no owner (forgotten.ts). */
  queue: (queue: string, name: string) => `${BULL_PREFIX}:${queue}:${name}`,

  /**
   * HASH, while known. JSON: profile (from hello), live (the last heartbeat, until it is sure to have left), last (the last `live`
   * when it went away), ledger (the last known state of its journal). Plain: imported (the incarnation), ended (the
   * session whose process has ended).
   */
  editor: (editor: string) => `${TAG}:editor:${editor}`,
  /** STRING, while known, or for an hour before its Editor is introduced: the Editor's tools as JSON. */
  catalog: (editor: string) => `${TAG}:catalog:${editor}`,
  /** HASH by Editor, repeated while it holds, else removed: what keeps it from working (JSON), and when that was reported. */
  diagnoses: `${TAG}:troubles`,
  /** LIST, newest first, at most 20, 15 to 30 days after the last: how long a tool's completed calls took, ms. */
  durations: (tool: string) => `${TAG}:durations:${tool}`,
  /**
   * INTEGER, while an operation is open on the Editor, then 3 × retention after the last write: the mutating operations
   * accepted for it. When it restarts from 0, no record with a higher number is left: records live for the retention.
   */
  mutations: (editor: string) => `${TAG}:mutations:${editor}`,

  /** STRING, 3 × retention after the last: number and time of a caller's, or a principal's, last change (limits.ts). */
  askerMutations: (editor: string, asker: string) => `${TAG}:mutations-by:${editor}:${asker}`,

  /** STRING with the lease's time to live: the owner's nonce. */
  lease: (editor: string) => `${TAG}:lease:${editor}`,
  /** HASH, like the epoch: the nonce of the lease, and the owner's process: machine, pid, mark (lease.ts). */
  leaseHolder: (editor: string) => `${TAG}:lease-holder:${editor}`,
  /** ZSET by time, ms: the Editors that were owned or forgotten, until nothing of them is left (forgotten.ts). */
  served: `${TAG}:served`,
  /** SET, 7 days after the last: the Editors that a person gave up in this incarnation of the store. */
  givenUp: (incarnation: string) => `${TAG}:given-up:${incarnation}`,
  /**
   * INTEGER, 3 × retention after the Editor's last lease: the highest epoch given to an owner. When it restarts from 0, it
   * is raised above the epoch that the Editor has seen (▲10).
   */
  epoch: (editor: string) => `${TAG}:epoch:${editor}`,
  /** HASH, for ever: the store's counters (src/shared/telemetry.ts). */
  counters: `${TAG}:tally`,
  /** STRING with a short time to live: lets one janitor run at a time. */
  janitor: `${TAG}:sweeper`,
  /** HASH, for ever: the time of the last sweep, and since when there was no pause between sweeps (last-sweep.ts), ms. */
  swept: `${TAG}:swept`,
  /**
   * STRING, retention since last use: the initialisation and selection of an MCP session, so that another gateway can adopt
   * it.
   */
  session: (sessionId: string) => `${TAG}:session:${sessionId}`,
  /** ZSET by the time of the last use, ms, as long as the newest session lives: the ids of a principal's sessions. */
  sessions: (principal: string) => `${TAG}:sessions:${principal}`,
  /** STRING with the login's time to live: whom a browser's cookie, named here by its digest, stands for (logins.ts). */
  login: (digest: string) => `${TAG}:login:${digest}`,
  /** ZSET by the time of the last note, ms, for half a minute after it: the connected MCP clients (connected-clients.ts). */
  clients: `${TAG}:clients`,
} as const;

export const channels = {
  /** A log_id whose operation ended. */
  ended: `${TAG}:ended`,
  /** A log_id of an operation in flight whose record or progress changed; subscribed to only while a listener exists. */
  changed: `${TAG}:changed`,
  /** The id of a pool in which an operation waits. */
  pools: `${TAG}:pools-changed`,
  /** A log_id whose cancellation the Editor's owner is to deliver. */
  cancel: `${TAG}:cancel`,
  /** An editor_id whose tools or condition changed. */
  editors: `${TAG}:editors-changed`,
  /** The id of the incarnation that begins: the store may have lost something. */
  incarnation: `${TAG}:incarnation-began`,
  /** How many MCP clients are connected: another one is, or one no longer. */
  clients: `${TAG}:clients-changed`,
} as const;

/** The major version of the schema above; a process with a lower one refuses to start. */
export const SCHEMA_VERSION = 7;
