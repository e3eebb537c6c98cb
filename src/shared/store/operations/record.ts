/**
 * An operation's record as it is stored: a JSON document, which leaves out what its key and the other fields of its HASH say,
 * and what says nothing. A store holds a hundred thousand of them. Beside it: the chain of its hash, and its result.
 */

import { randomUUID } from "node:crypto";
import { Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import { constants, createGzip, gunzip, gzip } from "node:zlib";
import type { Redis, Result } from "ioredis";
import type { EditorState, Moment } from "../../operation/again.js";
import type { LostOperation } from "../../operation/decide.js";
import {
  type Caller,
  countsAsChange,
  type EndMark,
  isFinal,
  mayHaveBegun,
  type OperationRecord,
  type State,
} from "../../operation/operation.js";
import { wellFormedJson } from "../../printable.js";
import type { EditorProfile } from "../editors/editors.js";
import { keys } from "../keys.js";
import {
  isStoreFull,
  OWN_CHANGE,
  parseOwnChange,
  RESULT_ACCOUNT,
  RESULT_QUOTA,
  type RoomLimits,
  STORE_TIME,
} from "./limits.js";

/** A record with what it was read from, or written as. */
export interface StoredText {
  record: OperationRecord;
  text: string;
}

const texts = new WeakMap<object, StoredText>();

/** A script compares a record by its text: of one that was read, or written, it is known without another reading. */
export function textOf(record: object): StoredText | undefined {
  return texts.get(record);
}

export function isStoredAs(record: OperationRecord, text: string): OperationRecord {
  texts.set(record, { record, text });
  return record;
}

export type Find = (logId: string) => Promise<OperationRecord | undefined>;

/** A record, and the only piece of its result if that is small: both of one moment. */
export interface FoundWithResult {
  record: OperationRecord;
  piece: Buffer | undefined;
}

export function createFind(redis: Redis): Find {
  return async (logId) =>
    parseRecord(logId, await redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"));
}

export function createFindWithResult(redis: Redis): (logId: string) => Promise<FoundWithResult | undefined> {
  return async (logId) => {
    const [piece, ...fields] = (
      await redis.hmgetBuffer(keys.operation(logId), "result", "doc", "mutationSeq", "turn")
    ).map((field) => field ?? undefined);
    const record = parseRecord(
      logId,
      fields.map((field) => field?.toString() ?? null),
    );
    return record && { record, piece };
  };
}

/** Values that a document leaves out. */
const USUAL = {
  after: null,
  cancellable: false,
  keyed: false,
  priorityClass: "interactive",
} as const satisfies Partial<OperationRecord>;

/** `state` and `acceptedAt`, which scripts set, come first, where they find them. */
export function documentOf(record: OperationRecord): string {
  const { state, acceptedAt, logId: _key, mutationSeq: _seq, turn: _turn, editorMark, ...others } = record;
  const document: Record<string, unknown> = { state, acceptedAt };
  for (const [name, value] of Object.entries(others))
    if (value !== USUAL[name as keyof typeof USUAL]) document[name] = value;
  const { editorSessionId, ...mark } = editorMark ?? {};
  if (editorMark) document.editorMark = editorSessionId === record.sentIn ? mark : editorMark;
  return JSON.stringify(document);
}

/** The state that every document begins with; undefined if there is none. */
export function createStateOf(redis: Redis): (logId: string) => Promise<State | undefined> {
  return async (logId) => {
    const document = (await redis.hget(keys.operation(logId), "doc")) ?? "";
    return /^\{"state":"(\w+)"/.exec(document)?.[1] as State | undefined;
  };
}

/** The record from the fields doc, mutationSeq and turn of its HASH; undefined if there is none. */
export function parseRecord(
  logId: string,
  [doc, mutationSeq, turn]: (string | null)[],
): OperationRecord | undefined {
  return doc ? readRecord(logId, [doc, mutationSeq, turn]) : undefined;
}

/** The same of fields that are there. */
export function readRecord(logId: string, [doc, mutationSeq, turn]: readonly unknown[]): OperationRecord {
  const record = Object.assign({ ...USUAL }, JSON.parse(String(doc))) as OperationRecord;
  const mark: Partial<EndMark> | undefined = record.editorMark;
  if (mark) record.editorMark = { editorSessionId: record.sentIn ?? "", ...mark } as EndMark;
  record.logId = logId;
  record.mutationSeq = Number(mutationSeq ?? 0);
  record.turn = Number(turn ?? 0);
  return isStoredAs(record, String(doc));
}

// What the scripts need to know of a record that they write.

/** How the script records that the Editor began it; a restored record does not displace later ones. */
export function beganAs(record: OperationRecord): "began" | "began_earlier" | "" {
  // A call that comes before its outcome is collected must find it, even behind later operations.
  if (!mayHaveBegun(record)) return record.rebuilt && !isFinal(record.state) ? "began_earlier" : "";
  return record.rebuilt && record.order === 0 ? "began_earlier" : "began";
}

/** Choice of target (▲4): the targets under which calls find it in its chain: its Editor, and its pool. */
export function targetsOf({ editor, pool = editor }: OperationRecord): string[] {
  return [...new Set([editor, pool])];
}

/** How long it took, at the moment when that is known; used to estimate the tool's next run. */
export function tookBetween(
  before: OperationRecord,
  { state, executionMs }: OperationRecord,
): number | undefined {
  return state === "completed" && before.state !== state ? executionMs : undefined;
}

/**
 * This process's copy of the store's time is late by up to a round trip, and now and then by more than before. So an event
 * of an operation is never dated before an earlier one.
 */
export function timeAfter(
  { acceptedAt, dispatchedAt = 0, startedAt = 0, endedAt = 0 }: OperationRecord,
  now: number,
): number {
  return Math.max(now, acceptedAt, dispatchedAt, startedAt, endedAt);
}

// What the store knows of a hash, and of the Editors of its operations, at one moment: the input of decisions.

/** A hash's chain at one moment: any later write to one of its operations changes `version`. */
export interface Chain extends Moment {
  version: string;
  /** The log_id of the newest operation; null if it is not stored (any more): then its Editor says what it knows of it. */
  newest: string | null;
  /**
   * For each Editor the newest operation and the newest that it began, and the operation that answers for one of them
   * (`executedAs`); without those whose retention ended.
   */
  records: OperationRecord[];
  /** Made by an earlier call with the same force_new. */
  forced: OperationRecord | undefined;
  lost?: readonly LostOperation[];
}

/** Whose earlier operations count as changes that a call must see (▲5): one caller's, or its whole principal's. */
export interface Asker {
  principal: string;
  caller: Caller | null;
}

export interface Chains {
  chain(hash: string, asker: Asker, forceNew?: string): Promise<Chain>;
  /**
   * The asker joined this operation, so its change counts as the asker's own, which later calls must see (▲5), as if the
   * operation had been accepted for the asker.
   */
  noteJoined(record: OperationRecord, asker: Asker): Promise<void>;
  /** The present moment, for decisions on operations of these Editors. */
  moment(editors: readonly string[], asker: Asker): Promise<Moment>;
}

/**
 * KEYS 1 askerMutations of the caller, 2 of the principal; ARGV 1 the joined operation's count, 2 its acceptedAt, 3 life,
 * ms.
 */
const NOTE_JOINED = `${OWN_CHANGE}
for i = 1, 2 do noteOwnChange(KEYS[i], ARGV[1], ARGV[2], ARGV[3]) end
`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbNoteJoined(
      caller: string,
      principal: string,
      seq: number,
      acceptedAt: number,
      keptMs: number,
    ): Result<null, Context>;
  }
}

/** How many operations that never began are looked behind; more in a row are rare. */
const LOOKED_BACK = 20;

export function createChains(
  redis: Redis,
  deps: {
    find: Find;
    now(): Promise<number>;
    incarnation(): Promise<string>;
    tombstone(logId: string): Promise<string | undefined>;
  },
  options: { retentionMs: number },
): Chains {
  redis.defineCommand("ujbNoteJoined", { numberOfKeys: 2, lua: NOTE_JOINED });
  const { find, now, incarnation, tombstone } = deps;

  const findAll = async (logIds: readonly string[]): Promise<OperationRecord[]> =>
    (await Promise.all([...new Set(logIds)].map(find))).filter((record) => record !== undefined);

  /** The operation that answers for this one; undefined once it is no longer known. */
  const findExecution = async (logId: string): Promise<OperationRecord | undefined> => {
    const record = await find(logId);
    return record?.executedAs === undefined ? record : find(record.executedAs);
  };

  /** The operation that the Editor began last, where the chain does not say it, because that was lost. */
  const begunBehind = async ({ editor, after }: OperationRecord): Promise<OperationRecord | undefined> => {
    let logId = after;
    for (let steps = 0; logId !== null && steps < LOOKED_BACK; steps += 1) {
      const before = await find(logId);
      if (before?.editor === editor && mayHaveBegun(before)) return before;
      logId = before?.after ?? null;
    }
    return undefined;
  };

  /** Those of the missing that no Editor has brought back; the others' retention has ended. */
  const lostIn = async (
    fields: Readonly<Record<string, string>>,
    missing: ReadonlySet<string>,
  ): Promise<LostOperation[]> => {
    const links = Object.entries(fields).flatMap(([name, logId]) => {
      const [, target] = /^(?:at|began):(.*)$/s.exec(name) ?? [];
      return target !== undefined && missing.has(logId) ? [{ target, logId }] : [];
    });
    const left = await Promise.all(links.map(({ logId }) => redis.get(keys.tombstone(logId))));
    return links.filter((_, at) => left[at] === "");
  };

  const stateOf = async (id: string, { principal, caller }: Asker): Promise<EditorState> => {
    const [counts, profile] = await Promise.all([
      redis.mget(keys.mutations(id), keys.askerMutations(id, caller?.id ?? principal)),
      redis.hget(keys.editor(id), "profile"),
    ]);
    const [all, last] = counts;
    const own = parseOwnChange(last);
    return {
      id,
      mutationSeq: Number(all ?? 0),
      ...(own ? { callerMutationSeq: own.seq, callerChangedAt: own.acceptedAt } : {}),
      ...(profile ? { mark: markOf(JSON.parse(profile) as EditorProfile) } : {}),
    };
  };

  const statesOf = (editors: readonly string[], asker: Asker): Promise<EditorState[]> =>
    Promise.all([...new Set(editors)].map((id) => stateOf(id, asker)));

  return {
    async chain(hash, asker, forceNew) {
      const [text, at, current] = await Promise.all([redis.get(keys.chain(hash)), now(), incarnation()]);
      const fields = JSON.parse(text ?? "{}") as Record<string, string>;
      const pointers = Object.entries(fields)
        .filter(([name]) => name === "newest" || name.startsWith("at:") || name.startsWith("began:"))
        .map(([, logId]) => logId);
      const forcedId = forceNew === undefined ? undefined : fields[`forced:${forceNew}`];
      const [pointedAt, forced] = await Promise.all([
        findAll(pointers),
        forcedId === undefined ? undefined : findExecution(forcedId),
      ]);
      const others = pointedAt.flatMap(({ executedAs }) => executedAs ?? []);
      const answering = await findAll(others.filter((id) => !pointers.includes(id)));
      const neverBegan = (record: OperationRecord): boolean => isFinal(record.state) && !mayHaveBegun(record);
      // A restored operation is linked before it is known whether it began.
      const isNoted = ({ editor }: OperationRecord): boolean => {
        const noted = fields[`began:${editor}`];
        return (
          noted !== undefined && !pointedAt.some((record) => record.logId === noted && neverBegan(record))
        );
      };
      const unnoted = pointedAt.filter((record) => neverBegan(record) && !isNoted(record));
      const behind = await Promise.all(unnoted.map(begunBehind));
      const records = [...pointedAt, ...answering, ...behind.filter((record) => record !== undefined)];
      const asked = forced ? [...records, forced] : records;
      const missing = new Set([...pointers, ...others]);
      for (const { logId } of records) missing.delete(logId);
      // A loss begins another incarnation, in which the call is decided on again.
      await Promise.all([...missing].map(tombstone));
      const lost = missing.size === 0 ? [] : await lostIn(fields, missing);
      const { newest = "" } = fields;
      return {
        version: fields.version ?? "0",
        newest: newest === "" || missing.has(newest) ? null : newest,
        records,
        forced,
        now: at,
        // Until the Editors were asked in it, nothing is decided on what is lost.
        incarnation: lost.length === 0 ? current : await incarnation(),
        editors: await statesOf(asked.flatMap(targetsOf), asker),
        ...(lost.length === 0 ? {} : { lost }),
      };
    },

    async noteJoined(record, { principal, caller }) {
      if (!countsAsChange(record)) return;
      await redis.ujbNoteJoined(
        keys.askerMutations(record.editor, caller?.id ?? principal),
        keys.askerMutations(record.editor, principal),
        record.mutationSeq,
        record.acceptedAt,
        3 * options.retentionMs,
      );
    },

    async moment(editors, asker) {
      const [at, current, states] = await Promise.all([now(), incarnation(), statesOf(editors, asker)]);
      return { now: at, incarnation: current, editors: states };
    },
  };
}

/** A plain Editor does not say where it stands. */
function markOf({ plain, editorSessionId, generation, assetCounter }: EditorProfile): EditorState["mark"] {
  return plain ? undefined : { editorSessionId, generation, assetCounter };
}

// What a write changes, under which conditions, and what became of it.

export interface Change {
  record: OperationRecord;
  result?: StoredResult | undefined;
}

/** The owner's nonce: a write is refused once another owner holds the lease (▲11). */
export type OwnerNonce = string | undefined;

export interface ChangeOptions {
  fence?: OwnerNonce;
  /** Store incarnation (▲13): write only in this incarnation of the store. */
  incarnation?: string | undefined;
  /** The Editor has it already: it needs no place among its principal's running operations. */
  wasSent?: boolean;
}

export type Changed =
  | { kind: "applied"; record: OperationRecord }
  | { kind: "unchanged"; record: OperationRecord }
  | { kind: "unknown" }
  | { kind: "not_owner" }
  /** Its principal's limit on running operations is reached: ask again. */
  | { kind: "held" }
  /** Store incarnation (▲13): the store may have lost something since: import the Editor's ledger first. */
  | { kind: "incarnation" }
  /** There is no room for its result (limits.ts): ask again. */
  | { kind: "full" };

export type Created =
  | { kind: "created"; record: OperationRecord }
  | { kind: "conflict" | "too_many" | "queue_full" | "full" };

// The stored form of a result: JSON in UTF-8, compressed if that is worth it, in pieces of a size that suits Redis.

export interface StoredResult {
  /** Size of the JSON before compression. */
  bytes: number;
  /** In order; at least one. */
  pieces: Buffer[];
}

const COMPRESS_ABOVE = 1024;
/** Size of one Redis command: Redis does nothing else while it runs. */
const PIECE_BYTES = 1024 * 1024;
/** No JSON begins with these two bytes. */
const GZIP = Buffer.from([0x1f, 0x8b]);
/** The fastest level: it saves store memory, and the answer waits for it. */
const LEVEL = constants.Z_BEST_SPEED;

const compress = promisify<Buffer, { level: number }, Buffer>(gzip);
const decompress = promisify<Buffer, Buffer>(gunzip);

/** Compresses on another thread. */
export async function encodeResult(value: unknown): Promise<StoredResult> {
  const json = Buffer.from(wellFormedJson(value), "utf8");
  return { bytes: json.length, pieces: piecesOf(await encodeText(json)) };
}

export async function encodeText(json: Buffer): Promise<Buffer> {
  return json.length > COMPRESS_ABOVE ? compress(json, { level: LEVEL }) : json;
}

/** For a result that comes in parts: only its compressed form is held. Rejects if `parts` does. */
export async function encodeParts(parts: AsyncIterable<Buffer>): Promise<StoredResult> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      bytes += part.length;
      yield part;
    }
  }
  const zip: Transform = createGzip({ level: LEVEL, chunkSize: PIECE_BYTES });
  const source = Readable.from(counted(), { objectMode: false, highWaterMark: 1 });
  source.on("error", (error) => zip.destroy(error));
  const pieces: Buffer[] = [];
  for await (const piece of source.pipe(zip)) pieces.push(piece as Buffer);
  return { bytes, pieces };
}

/** Bytes in the store. */
function storedBytes({ pieces }: StoredResult): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The JSON text. Small ones are stored uncompressed. */
export async function decodeResult(pieces: readonly Buffer[]): Promise<string> {
  const data = Buffer.concat(pieces);
  const json = data.subarray(0, GZIP.length).equals(GZIP) ? await decompress(data) : data;
  return json.toString("utf8");
}

function piecesOf(data: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(data.length / PIECE_BYTES));
  return Array.from({ length: count }, (_, at) => data.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES));
}

// Uploads a large result before it is written: piece by piece under its own key, which the writing script renames to the
// result's key in one step with the record's end (▲14). An upload that is never written expires.

/** The form in which the writing script takes it. */
export interface UploadedResult {
  key: string;
  /** The only piece, if there is just one. */
  piece: Buffer | "";
  bytes: number;
  /** Removes what was not written. */
  drop(): Promise<void>;
}

export type ResultUpload = (result: StoredResult, principal: string) => Promise<UploadedResult | "full">;

/** Longest time from one piece to the next, and to the write, ms. */
const STAGED_MS = 60_000;

/**
 * KEYS 1 and 2 the account of results, 3 the principal's request for space
 * ARGV 1 principal, 2 bytes, 3 the budgets, JSON (limits.ts). Answer: 1 or 0.
 */
const ASK = `${STORE_TIME}${RESULT_QUOTA}
local limits = cjson.decode(ARGV[3])
local results = accountOf(1, limits.results, limits.share)
if hasRoom(results, ARGV[1], tonumber(ARGV[2])) then return 1 end
wantRoom(KEYS[3], ARGV[2])
return 0`;

/** In one step, so that a piece expires if its writer dies. KEYS 1 the upload; ARGV 1 piece, 2 life ms. */
const ADD = `
redis.call('RPUSH', KEYS[1], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbAskForRoom(...keysAndArguments: (string | number)[]): Result<0 | 1, Context>;
    ujbAddPiece(key: string, piece: Buffer, lifeMs: number): Result<number, Context>;
  }
}

export function defineResultUpload(redis: Redis, room: RoomLimits): ResultUpload {
  const limits = JSON.stringify(room);
  redis.defineCommand("ujbAskForRoom", { numberOfKeys: 3, lua: ASK });
  redis.defineCommand("ujbAddPiece", { numberOfKeys: 1, lua: ADD });
  return async (result, principal) => {
    const bytes = storedBytes(result);
    const key = keys.uploaded(randomUUID());
    const [first = Buffer.alloc(0)] = result.pieces;
    if (result.pieces.length === 1) return { key, piece: first, bytes, drop: async () => undefined };
    const account = [...RESULT_ACCOUNT, keys.roomWanted(principal)];
    if ((await redis.ujbAskForRoom(...account, principal, bytes, limits)) === 0) return "full";
    const drop = async (): Promise<void> => {
      await redis.del(key);
    };
    try {
      for (const piece of result.pieces) await redis.ujbAddPiece(key, piece, STAGED_MS);
    } catch (error) {
      await drop().catch(() => undefined);
      if (isStoreFull(error)) return "full";
      throw error;
    }
    return { key, piece: "", bytes, drop };
  };
}
