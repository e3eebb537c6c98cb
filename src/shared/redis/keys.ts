/**
 * Every key and channel, its type and lifetime, on one page. One hash tag keeps all of them, BullMQ's included, in
 * one slot, so that scripts may touch several. In flight = no expiry; retention = 24 h by default, from the end.
 */
const TAG = "{ujb}";

/** BullMQ's own keys: `{ujb}:bull:<editor>.<lane>:…`; jobs are removed after the retention. */
export const BULL_PREFIX = `${TAG}:bull`;

export const keys = {
  /** STRING, for ever: the schema's major version. */
  schema: `${TAG}:schema`,
  /** STRING, for ever: a random id of this store, told to Editors in hello. */
  storeId: `${TAG}:store-id`,

  /** HASH, 3 × retention after the last write: version, newest, at:<editor>, open, forced:<log_id>. */
  chain: (hash: string) => `${TAG}:chain:${hash}`,
  /** HASH, retention: doc (the record as JSON), mutationSeq, turn. */
  operation: (logId: string) => `${TAG}:operation:${logId}`,
  /** STRING, retention: the arguments as JSON. */
  arguments: (logId: string) => `${TAG}:arguments:${logId}`,
  /** LIST, retention: the pieces of the result (stored-result.ts). */
  result: (logId: string) => `${TAG}:result:${logId}`,
  /** LIST, a minute after the last piece: a large result on its way (stage.ts). */
  staged: (id: string) => `${TAG}:staged:${id}`,
  /** ZSET by the end of retention, ms, until the last of them: `<bytes>:<log_id>` of the stored results (room.ts). */
  resultEnds: `${TAG}:result-ends`,
  /** INTEGER, for as long: their bytes together. */
  resultBytes: `${TAG}:result-bytes`,
  /** STRING with a short time to live: a result waits for room. */
  roomWanted: `${TAG}:room-wanted`,
  /** HASH, 30 min since the last use: a document made from a result (derived.ts): principal, about (JSON), data. */
  derived: (id: string) => `${TAG}:derived:${id}`,
  /** ZSET by the time of the last use, ms: the ids of the derived documents. */
  derivedUse: `${TAG}:derived-use`,
  /** HASH by id: their bytes in the store, and the total. */
  derivedBytes: `${TAG}:derived-bytes`,
  /** HASH, retention: progress, partial (JSON each), overwritten while it runs. */
  live: (logId: string) => `${TAG}:live:${logId}`,
  /** LIST, 3 × retention after the last entry, the newest 100: the calls that found this operation (JSON). */
  duplicates: (logId: string) => `${TAG}:duplicates:${logId}`,
  /** STRING, retention + 7 days: the principal; tells "retention ended" from "never existed". */
  tombstone: (logId: string) => `${TAG}:tombstone:${logId}`,
  /** ZSET by acceptedAt, trimmed to the retention: the log_ids of a principal. */
  principal: (principal: string) => `${TAG}:principal:${principal}`,
  /** ZSET by acceptedAt: the operations of an Editor that have not ended. */
  open: (editor: string) => `${TAG}:open:${editor}`,

  /** ZSET by the time of the last sign of life (0: none yet): the known Editors, until unseen for the retention. */
  editors: `${TAG}:editors`,
  /** SET, in flight: the log_ids of a principal that were accepted and not sent. */
  waiting: (principal: string) => `${TAG}:waiting:${principal}`,
  /** HASH, in flight: the log_ids of a principal that were sent and have not ended, and their Editors (see cap.ts). */
  sent: (principal: string) => `${TAG}:sent:${principal}`,
  /** HASH, in flight: the log_ids of a principal that came too early (see cap.ts). */
  held: (principal: string) => `${TAG}:held:${principal}`,
  /** HASH, until nothing is open on the Editor: sent, highest, last:<principal> (turns; see turn.ts). */
  turns: (queue: string) => `${TAG}:turns:${queue}`,
  /** BullMQ: wait and active are LISTs that are taken from at the right, prioritized a ZSET from its lowest score. */
  jobs: (queue: string, where: "wait" | "prioritized" | "active") => `${BULL_PREFIX}:${queue}:${where}`,
  /** BullMQ: STRING with the lock's time to live: the token of the worker that has the job. */
  jobLock: (queue: string, jobId: string) => `${BULL_PREFIX}:${queue}:${jobId}:lock`,

  /**
   * HASH, while known, JSON each: profile (from hello), live (from the last heartbeat, while it is there), last (what
   * that was when it went away), ledger (what was seen of its journal), ended (the session whose process is gone).
   */
  editor: (editor: string) => `${TAG}:editor:${editor}`,
  /** STRING, while known: the tools of an Editor as JSON. */
  catalog: (editor: string) => `${TAG}:catalog:${editor}`,
  /** HASH by Editor, told again while it lasts: what keeps it from working (JSON), and when that was told. */
  troubles: `${TAG}:troubles`,
  /** LIST, newest first, at most 20, 30 days after the last: how long the completed calls of a tool took, ms. */
  durations: (tool: string) => `${TAG}:durations:${tool}`,
  /** INTEGER, for ever: mutating operations accepted for an Editor. */
  mutations: (editor: string) => `${TAG}:mutations:${editor}`,

  /** STRING with the lease's time to live: the owner's nonce. */
  lease: (editor: string) => `${TAG}:lease:${editor}`,
  /** INTEGER, for ever: the highest epoch given to an owner. */
  epoch: (editor: string) => `${TAG}:epoch:${editor}`,
  /** HASH, for ever: the store's counters (src/shared/tally.ts). */
  tally: `${TAG}:tally`,
  /** STRING with a short time to live: one sweeper at a time. */
  sweeper: `${TAG}:sweeper`,
  /** HASH, for ever: when sweeping last happened, and since when without a pause (sweeping.ts), ms. */
  swept: `${TAG}:swept`,
  /** STRING, retention since last use: how an MCP session was initialised, to adopt it after a restart. */
  session: (sessionId: string) => `${TAG}:session:${sessionId}`,
} as const;

export const channels = {
  /** A log_id whose operation ended. */
  ended: `${TAG}:ended`,
  /** A log_id of an operation in flight whose record or progress changed; heard where somebody follows one. */
  changed: `${TAG}:changed`,
  /** A log_id whose cancellation was asked of the Editor. */
  cancel: `${TAG}:cancel`,
  /** An editor_id whose tools or presence changed. */
  editors: `${TAG}:editors-changed`,
} as const;

/** The major version of the schema above; a process with a lower one refuses to start. */
export const SCHEMA_VERSION = 3;
