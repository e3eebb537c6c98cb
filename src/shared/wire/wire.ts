/**
 * The messages between worker and Editor, protocol 1 (docs/reference/protocol.md). Schemas allow extra fields: a newer peer
 * may send more.
 */
import { z } from "zod";

export const PROTOCOL_VERSION = 1;
/** Codes that an Editor answers with; JSON-RPC's own are in rpc.ts. */
export const EDITOR_CODES = {
  UNAUTHORIZED: -32010,
  FENCED: -32011,
  OPERATION_ID_CONFLICT: -32012,
  LEDGER_LOST: -32013,
  LEDGER_UNAVAILABLE: -32014,
  FRAME_TOO_LARGE: -32015,
  EDITOR_SHUTTING_DOWN: -32017,
  UNKNOWN_TOOL: -32018,
  FOREIGN_BROKER: -32019,
  RETIRED: -32020,
  REVOKED: -32021,
} as const;

export const LedgerState = z.enum([
  "accepted",
  "running",
  "completed",
  "failed",
  "cancelled",
  "interrupted",
  "revoked",
  "not_started",
]);
export type LedgerState = z.infer<typeof LedgerState>;

/**
 * Where an Editor stood when an execution ended, to detect later changes; not every bridge sends it. `generation` and
 * `assetCounter` only grow within a session.
 */
const Standing = z.looseObject({
  editorSessionId: z.string().max(1_000),
  generation: z.number(),
  assetCounter: z.number(),
  /** A domain reload caused by this execution follows: the next generation counts as the same standing. */
  reloadAnnounced: z.literal(true).optional(),
});
export type Standing = z.infer<typeof Standing>;

/** The end of an execution as the Editor reports it. Times in ms since the epoch, on the Editor's clock. */
export const Outcome = z.looseObject({
  status: z.enum(["completed", "failed", "cancelled", "interrupted"]),
  result: z.unknown().optional(),
  /** Replaces a `result` that is too large for a frame: its length as UTF-8 JSON, for `operation/result`. */
  resultBytes: z.number().optional(),
  error: z.looseObject({ type: z.string(), message: z.string(), stack: z.string().optional() }).optional(),
  /** Absent when the execution never began (refused, cancelled while queued). */
  startedAt: z.number().optional(),
  endedAt: z.number(),
  executionMs: z.number().optional(),
  endedIn: Standing.optional(),
});
export type Outcome = z.infer<typeof Outcome>;

/**
 * Who asked for an operation: opaque to the Editor, kept in its ledger so that a lost store can be rebuilt (▲10 d). An
 * older broker sent fewer fields.
 */
export const RecoveryMetadata = z.looseObject({
  principal: z.string(),
  tool: z.string(),
  fingerprint: z.string(),
  storeId: z.string().optional(),
  keyed: z.boolean().optional(),
  editorOpen: z.boolean().optional(),
  pool: z.string().optional(),
  supersedes: z.string().optional(),
  caller: z.string().nullable().optional(),
  requestId: z.union([z.string(), z.number()]).nullable().optional(),
  /** Covers this and the values submitted with it (src/shared/operation/recover.ts); without it the rest is untrusted. */
  signature: z.string().optional(),
});
export type RecoveryMetadata = z.infer<typeof RecoveryMetadata>;

/** Never reused; at least 16 random bytes. */
const Nonce = z.string().regex(/^[\w-]{22,128}$/);

export const HelloParams = z.looseObject({
  protocol: z.number(),
  storeId: z.string(),
  brokerId: z.string(),
  workerId: z.string(),
  version: z.string(),
  epoch: z.int().nonnegative(),
  ownerNonce: z.string(),
  nonce: Nonce,
  /** It takes `operation/log`. */
  log: z.boolean().optional(),
});
export type HelloParams = z.infer<typeof HelloParams>;

/** The first answer to `bridge/hello` and `bridge/hand_over`; `bridge/prove` then gets the answer they ask for. */
export const ChallengeAnswer = z.looseObject({ nonce: Nonce, proof: z.string() });
export type ChallengeAnswer = z.infer<typeof ChallengeAnswer>;

export const ProveParams = z.looseObject({ proof: z.string() });

/** Stored and shown as received, so its length is limited. */
const Name = z.string().max(1_000);
const Path = z.string().max(32_767);

/** The bridges that keep no ledger, by the name of their project. */
export const PlainBridge = z.enum(["uloop", "unity-mcp"]);
export type PlainBridge = z.infer<typeof PlainBridge>;
/** What begins like a pool's id would share its queue. */
const EditorId = Name.min(1).refine((id) => !/^pool[:_]/i.test(id), "looks like a pool's");

export const HelloResult = z.looseObject({
  protocol: z.number(),
  editorId: EditorId,
  projectName: Name,
  projectPath: Path,
  unityVersion: Name,
  pid: z.number(),
  editorSessionId: Name,
  generation: z.number(),
  assetCounter: z.number(),
  ledgerId: Name,
  ledgerSeq: z.number(),
  /** The previous Editor session and its last durable entry: lower than what was seen means rolled back. */
  previousSession: z.looseObject({ editorSessionId: z.string(), ledgerSeq: z.number() }).optional(),
  toolsHash: Name,
  /** Which pools it is in (target.ts). */
  labels: z.array(Name).max(1_000).optional(),
  phase: Name,
  heartbeatSeconds: z.number(),
  open: z.array(z.looseObject({ operationId: z.string(), state: LedgerState })),
  unacknowledged: z.array(z.string()),
  /** The path of the Editor's own log on its machine. */
  logFile: Path.optional(),
  /** Neither is ever on the wire: set by the worker for an Editor without hello. */
  plain: z.literal(true).optional(),
  bridge: PlainBridge.optional().catch(undefined),
});
export type HelloResult = z.infer<typeof HelloResult>;

/** A person takes over an Editor for a store; with `force` even while operations of the bound store are open there. */
export const HandOverParams = z.looseObject({
  nonce: Nonce,
  storeId: z.string().min(1),
  force: z.boolean().optional(),
});

export type HandOver = z.infer<typeof HandOverParams>;
export type HandOverAnswer = z.infer<typeof HandOverAnswer>;
export const HandOverAnswer = z.looseObject({
  boundTo: z.string(),
  /** The store that held it before; null if none. */
  before: z.string().nullable(),
  /** That store's open operations, which go on in the Editor without it. */
  open: z.array(z.looseObject({ operationId: z.string(), state: LedgerState })),
});

export const SubmitParams = z.looseObject({
  operationId: z.string(),
  hash: z.string(),
  after: z.string().nullable(),
  origin: RecoveryMetadata,
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
  /** ms since the epoch, on the store's clock. */
  acceptedAt: z.number(),
  epoch: z.int().nonnegative(),
  ownerNonce: z.string(),
  ledgerId: z.string(),
  /** W3C Trace Context of what sends it; an Editor that keeps no spans ignores it. */
  traceparent: z.string().optional(),
  tracestate: z.string().optional(),
});
export type SubmitParams = z.infer<typeof SubmitParams>;

export const SubmitAnswer = z.union([
  /** Another operation, with everything its record needs. */
  z.looseObject({
    state: z.literal("same_as"),
    operationId: z.string(),
    stateThere: LedgerState,
    origin: RecoveryMetadata.optional(),
    /** ms since the epoch, on the store's clock. */
    acceptedAt: z.number().optional(),
    after: z.string().nullable().optional(),
    /** Absent when it never began. */
    startedAt: z.number().optional(),
    endedAt: z.number().optional(),
    endedIn: Standing.optional(),
    /** As in `operation/get`: `resultBytes` stands for a result that is too large for a frame. */
    outcome: Outcome.optional(),
    ledgerSeq: z.number(),
  }),
  z.looseObject({ state: LedgerState, outcome: Outcome.optional(), ledgerSeq: z.number() }),
]);
export type SubmitAnswer = z.infer<typeof SubmitAnswer>;

/** An operation in the Editor's ledger with its submitted values, without arguments and outcome. */
export const ListedOperation = z.looseObject({
  operationId: z.string(),
  state: LedgerState,
  /** Absent when it was revoked before it was ever submitted. */
  hash: z.string().optional(),
  after: z.string().nullable().optional(),
  origin: z.unknown().optional(),
  /** ms since the epoch, on the store's clock. */
  acceptedAt: z.number().optional(),
  /** Absent when it never began. */
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  endedIn: Standing.optional(),
});
export type ListedOperation = z.infer<typeof ListedOperation>;

/** A page of `operation/list`. */
export const ListAnswer = z.looseObject({
  operations: z.array(ListedOperation),
  /** Opaque; absent on the last page. */
  nextCursor: z.string().optional(),
});
export type ListAnswer = z.infer<typeof ListAnswer>;

/** Last known progress of a running operation; `seq` grows by one with each report. */
export const Progress = z.looseObject({
  operationId: z.string(),
  seq: z.number(),
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
  partialResult: z.unknown().optional(),
});
export type Progress = z.infer<typeof Progress>;

export const GetAnswer = z.looseObject({
  state: z.union([LedgerState, z.literal("unknown")]),
  origin: RecoveryMetadata.optional(),
  progress: Progress.optional(),
  partialResult: z.unknown().optional(),
  outcome: Outcome.optional(),
  ledgerSeq: z.number(),
});
export type GetAnswer = z.infer<typeof GetAnswer>;

export const CancelAnswer = z.looseObject({
  state: z.enum(["cancelled", "requested", "not_cancellable", "finished"]),
});
export type CancelAnswer = z.infer<typeof CancelAnswer>;

export const RunningNotice = z.looseObject({ operationId: z.string(), ledgerSeq: z.number() });
export const FinishedNotice = z.looseObject({
  operationId: z.string(),
  outcome: Outcome,
  ledgerSeq: z.number(),
});

export const Heartbeat = z.looseObject({
  editorSessionId: Name,
  generation: z.number(),
  assetCounter: z.number().optional(),
  phase: Name,
  mainThreadStallMs: z.number(),
  /** Whether a window of this Editor has the focus; not every bridge reports it. */
  focused: z.boolean().optional(),
  runningOperationId: Name.optional(),
  queued: z.number(),
  /** Of its process: bytes in memory, and the time that processors have spent on it, ms. Only shown: unusable, it is left out. */
  memory: z.number().nonnegative().optional().catch(undefined),
  cpu: z.number().nonnegative().optional().catch(undefined),
  /** The Editor's last durable journal entry; a plain Editor has none. */
  ledgerSeq: z.number().optional(),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** The file by which workers find an Editor: `~/.unity-job-broker/editors/<id>.json`, mode 0600. */
export const EndpointFile = z.looseObject({
  editorId: EditorId,
  projectName: z.string(),
  projectPath: z.string(),
  pid: z.number(),
  host: z.string(),
  port: z.int().min(1).max(65535),
  token: z.string(),
  /** `host:port` where the Editor itself listens, if it is forwarded to the address above. */
  listensOn: z.string().optional(),
  unityVersion: z.string(),
  phase: z.string().optional(),
});
export type EndpointFile = z.infer<typeof EndpointFile>;
