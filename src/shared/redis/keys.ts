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

  /** HASH, for ever: id, run, before, orderly (incarnation.ts). */
  incarnation: `${TAG}:incarnation`,

  /**
   * HASH, in flight, then 3 × retention after the last write: version, newest, at:<editor>, began:<editor>,
   * forced:<log_id>; of the links those whose record is gone are dropped with later operations (lifetime.ts).
   */
  chain: (hash: string) => `${TAG}:chain:${hash}`,
  /** HASH, retention: doc (the record as JSON), mutationSeq, turn. */
  operation: (logId: string) => `${TAG}:operation:${logId}`,
  /** STRING, retention: the arguments as JSON. */
  arguments: (logId: string) => `${TAG}:arguments:${logId}`,
  /** LIST, retention: the pieces of the result (stored-result.ts). */
  result: (logId: string) => `${TAG}:result:${logId}`,
  /** LIST, a minute after the last piece: a large result on its way (stage.ts). */
  staged: (id: string) => `${TAG}:staged:${id}`,
  /** ZSET by the end of retention, ms, until the last of them: `<bytes>:<log_id>:<principal>` of the stored results (room.ts). */
  resultEnds: `${TAG}:result-ends`,
  /** INTEGER, for as long: their bytes together. */
  resultBytes: `${TAG}:result-bytes`,
  /** HASH, for as long: the bytes of each principal. */
  resultShares: `${TAG}:result-shares`,
  /** The same three of the stored arguments; ZSET: those of operations in flight have no end yet. */
  argumentEnds: `${TAG}:argument-ends`,
  /** INTEGER, as argumentEnds. */
  argumentBytes: `${TAG}:argument-bytes`,
  /** HASH, as argumentEnds. */
  argumentShares: `${TAG}:argument-shares`,
  /** STRING with a short time to live: a result of this principal waits for room. */
  roomWanted: (principal: string) => `${TAG}:room-wanted:${principal}`,
  /** HASH, 30 min since the last use: a document made from a result (derived.ts): principal, about (JSON), data. */
  derived: (id: string) => `${TAG}:derived:${id}`,
  /** ZSET by the time of the last use, ms: a principal's derived documents, each as "id bytes". */
  derivedUse: (principal: string) => `${TAG}:derived-use:${principal}`,
  /** HASH by principal: the bytes of its derived documents. */
  derivedShares: `${TAG}:derived-shares`,
  /** HASH, retention: progress, partial (JSON each), overwritten while it runs; truncated (a partial result was too large). */
  live: (logId: string) => `${TAG}:live:${logId}`,
  /** ZSET by the time of the last write, ms, 3 × retention after the last: the log_ids of the partial results (partials.ts). */
  partialUse: `${TAG}:partial-use`,
  /** HASH by log_id, for as long: their bytes, and the total. */
  partialBytes: `${TAG}:partial-bytes`,
  /** LIST, 3 × retention after the last entry, the newest 100: the calls that found this operation (JSON). */
  duplicates: (logId: string) => `${TAG}:duplicates:${logId}`,
  /** STRING, retention + 7 days: the principal; tells "retention ended" from "never existed". */
  tombstone: (logId: string) => `${TAG}:tombstone:${logId}`,
  /**
   * ZSET by acceptedAt, while the principal has something in flight, then 3 × retention, and trimmed to that: the log_ids
   * of a principal.
   */
  principal: (principal: string) => `${TAG}:principal:${principal}`,
  /** ZSET by acceptedAt: the operations of an Editor that have not ended. */
  open: (editor: string) => `${TAG}:open:${editor}`,

  /** ZSET by the time of the last sign of life: the known Editors, until unseen for the retention. */
  editors: `${TAG}:editors`,
  /** SET, in flight: the log_ids of a principal that were accepted and not sent. */
  waiting: (principal: string) => `${TAG}:waiting:${principal}`,
  /** HASH, in flight: the log_ids of a principal that were sent and have not ended, and their Editors (see cap.ts). */
  sent: (principal: string) => `${TAG}:sent:${principal}`,
  /** HASH, in flight: the log_ids of a principal that came too early (see cap.ts). */
  held: (principal: string) => `${TAG}:held:${principal}`,
  /** HASH, 3 × retention after the last write, at most until nothing is open on the Editor: sent, highest, last:<principal> (turn.ts). */
  turns: (queue: string) => `${TAG}:turns:${queue}`,
  /** BullMQ's own, by its name for it: until the Editor is forgotten and nobody owns it (forgotten.ts). */
  queue: (queue: string, name: string) => `${BULL_PREFIX}:${queue}:${name}`,
  /** BullMQ: wait and active are LISTs that are taken from at the right, prioritized a ZSET from its lowest score. */
  jobs: (queue: string, where: "wait" | "prioritized" | "active") => `${BULL_PREFIX}:${queue}:${where}`,
  /** BullMQ: STRING with the lock's time to live: the token of the worker that has the job. */
  jobLock: (queue: string, jobId: string) => `${BULL_PREFIX}:${queue}:${jobId}:lock`,

  /**
   * HASH, while known, JSON each: profile (from hello), live (from the last heartbeat, while it is there), last (what
   * that was when it went away), ledger (what was seen of its journal); as they are: imported (the incarnation), ended (the
   * session whose process is gone).
   */
  editor: (editor: string) => `${TAG}:editor:${editor}`,
  /** STRING, while known, an hour before its Editor is introduced: the tools of an Editor as JSON. */
  catalog: (editor: string) => `${TAG}:catalog:${editor}`,
  /** HASH by Editor, told again while it lasts, else removed: what keeps it from working (JSON), and when that was told. */
  troubles: `${TAG}:troubles`,
  /** LIST, newest first, at most 20, 30 days after the last: how long the completed calls of a tool took, ms. */
  durations: (tool: string) => `${TAG}:durations:${tool}`,
  /**
   * INTEGER, while something is open on the Editor, then 3 × retention after the last write: mutating operations accepted
   * for it. Records live for the retention, so no record is left that holds a higher number when it begins again.
   */
  mutations: (editor: string) => `${TAG}:mutations:${editor}`,

  /** STRING, 3 × retention after the last: count and time of the last such operation of a caller, or of a principal (own-change.ts). */
  askerMutations: (editor: string, asker: string) => `${TAG}:mutations-by:${editor}:${asker}`,

  /** STRING with the lease's time to live: the owner's nonce. */
  lease: (editor: string) => `${TAG}:lease:${editor}`,
  /** ZSET by when, ms: the Editors that were owned or forgotten, until nothing of them is left (forgotten.ts). */
  served: `${TAG}:served`,
  /**
   * INTEGER, 3 × retention after the last lease of the Editor: the highest epoch given to an owner. One that begins again
   * is raised above what the Editor has seen (▲10).
   */
  epoch: (editor: string) => `${TAG}:epoch:${editor}`,
  /** HASH, for ever: the store's counters (src/shared/tally.ts). */
  tally: `${TAG}:tally`,
  /** STRING with a short time to live: one sweeper at a time. */
  sweeper: `${TAG}:sweeper`,
  /** HASH, for ever: when sweeping last happened, and since when without a pause (sweeping.ts), ms. */
  swept: `${TAG}:swept`,
  /** STRING, retention since last use: how an MCP session was initialised and what it selected, to adopt it. */
  session: (sessionId: string) => `${TAG}:session:${sessionId}`,
  /** ZSET by the time of the last use, ms, as long as the last of them: the ids of a principal's sessions. */
  sessions: (principal: string) => `${TAG}:sessions:${principal}`,
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
