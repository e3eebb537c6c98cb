/** Every known Editor: identity, condition, and tools, so that no list has to wait for Unity. */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import type { Diagnosis } from "../../editors/diagnosis.js";
import type { EditorMark } from "../../operation/operation.js";
import type { Tool } from "../../tools/tool.js";
import type { LedgerCheckpoint } from "../../wire/ledger-checkpoint.js";
import type { PlainBridge } from "../../wire/wire.js";
import { channels, keys } from "../keys.js";
import { INCARNATION } from "../schema.js";

export interface EditorProfile extends EditorMark {
  editorId: string;
  projectName: string;
  projectPath: string;
  unityVersion: string;
  pid: number;
  /** Its process, if the machine it runs on could identify it. */
  process?: EditorProcess;
  /** As it gives them itself (target.ts). */
  labels?: readonly string[];
  /** Its bridge keeps no ledger and reports no generation or asset counter (docs/reference/protocol.md, "Plain Editors"). */
  plain?: true;
  /** Which of them it is; an older worker did not say. */
  bridge?: PlainBridge;
}

/** Only workers on this machine can tell whether the process is alive. */
export interface EditorProcess {
  machine: string;
  pid: number;
  /** Its start time as the system reports it: another process may get the same pid later. */
  mark?: string | undefined;
}

/** What an Editor says of itself, as reported by the owner. */
export interface EditorLive {
  phase: string;
  mainThreadStallMs: number;
  queued: number;
  runningOperationId?: string;
  /** Of its process: bytes in memory, and how much of one processor it used since the sign before, percent. */
  memoryBytes?: number;
  cpuPercent?: number;
}

/** The last sign of life before it went away; `at`: ms since the epoch on the store's clock. */
export interface LastSign extends EditorLive {
  editorSessionId: string;
  at: number;
}

/** How long a diagnosis is believed without being reported again, ms: its owner may have died. */
export const DIAGNOSIS_STANDS_MS = 15_000;

/** What keeps an Editor from working. */
export interface PublicDiagnosis extends Diagnosis {
  project: string;
  /** ms since the epoch, store clock. */
  at: number;
}

export interface KnownEditor {
  diagnosis?: PublicDiagnosis | undefined;
  profile: EditorProfile;
  /** The owner of its lease has heard it, and has not lost it since. */
  connected: boolean;
  live: EditorLive | undefined;
  /** From before it went away; undefined if it never did. */
  last?: LastSign | undefined;
  /** The last session whose process is proven to have ended, and when that was detected. */
  ended?: { editorSessionId: string; at: number } | undefined;
  /** The last known state of its journal (▲10 c); a plain Editor has none. */
  ledger?: LedgerCheckpoint | undefined;
  /** ms since the epoch, store clock; of one that is connected: now. */
  lastSeenAt: number;
  mutationSeq: number;
}

/** An Editor that is away, as it was last seen. */
export interface AwayEditor extends Pick<KnownEditor, "profile" | "lastSeenAt" | "ended"> {
  tools: readonly Tool[];
}

/** Whether a known Editor is connected, at one moment. */
export interface Availability {
  id: string;
  /** Undefined: its introduction is still under way. */
  profile: EditorProfile | undefined;
  /** The owner of its lease has heard it, and has not lost it since. */
  connected: boolean;
  /** It has shown signs of life, and has not been reported gone since: its owner may have died. */
  isLive: boolean;
  /** A worker holds its lease: it has found the Editor's process, connected or not. */
  isOwned: boolean;
  /** An operation waits for it or was sent to it: it may connect and run that while no gateway is watching. */
  hasOpen: boolean;
  /** The incarnation of the store in which its ledger was last imported (▲13). */
  importedIn: string | undefined;
  /** ms since the epoch, store clock. */
  lastSeenAt: number;
}

export interface SignOfLife {
  /** The owner's nonce. */
  owner: string;
  live: EditorLive;
  ledger: LedgerCheckpoint | undefined;
  /** In which the Editor's operations were imported (▲13); "": in none. */
  importedIn: string;
  /** The store has just this already: it is only asked whether it still has it. */
  isNoted: boolean;
}

export type SignNoted =
  /** `isWhole`: the store has everything that the hello had written. `at`: ms, store clock. Refused: this owner has no lease there. */
  | { kind: "noted" | "refused"; isWhole: boolean; at: number }
  /** Store incarnation (▲13): the store may have lost something since the import. Nothing was noted: import first. */
  | { kind: "outdated" };

export interface Editors {
  /** An Editor answered hello. */
  introduce(profile: EditorProfile): Promise<void>;
  /** A heartbeat came; call it at most once a second, and only once in a while if it says nothing new. */
  alive(editor: string, sign: SignOfLife): Promise<SignNoted>;
  /**
   * This owner has lost the Editor; no effect once another owner has heard it. With its last sign of life, which is kept, it has left.
   * Without, or if the store may have lost something since the import, it is only not connected.
   */
  gone(editor: string, owner: string, left?: { last: LastSign; importedIn: string }): Promise<void>;
  /** The process of this session has ended: the outcome of whatever it was running is unknown. */
  ended(editor: string, editorSessionId: string, now: number): Promise<void>;
  /** An Editor that was forgotten is known again, as it was last seen; one that is known stays as it is. */
  knowAgain(editor: AwayEditor): Promise<void>;
  /**
   * The Editor is no longer offered as a target of calls: it has been away so long, or a person has given it up since the store lost
   * something, in this incarnation.
   */
  forget(editor: string, givenUpIn?: string): Promise<void>;
  /** The Editors that were given up in this incarnation. */
  givenUp(incarnation: string): Promise<string[]>;
  /** Reports what keeps the Editor from working, even one that never answered hello; undefined: nothing any more. */
  reportDiagnosis(editor: string, diagnosis: PublicDiagnosis | undefined): Promise<void>;
  /** By Editor, including those that never answered hello. */
  diagnoses(): Promise<Map<string, PublicDiagnosis>>;
  ids(): Promise<string[]>;
  /** All Editors, the most recently seen last; usually in one round trip. */
  availability(): Promise<Availability[]>;
  mutations(editors: readonly string[]): Promise<{ id: string; mutationSeq: number }[]>;
  find(editor: string): Promise<KnownEditor | undefined>;
  all(): Promise<KnownEditor[]>;
  tools(editor: string): Promise<Tool[]>;
  /** Stores the catalogue; true if it differs from the stored one. */
  publishTools(editor: string, tools: readonly Tool[]): Promise<boolean>;
}

/**
 * Everything that a heartbeat needs of the store. What is appended to its file for an idle Editor is paid for each Editor, all day.
 *
 * KEYS 1 incarnation, 2 editor, 3 editors, 4 catalog, 5 lease; ARGV 1 a new incarnation, 2 that of the import, 3 the Editor, 4 its
 *      condition, 5 its ledger or empty, 6 the owner, 7 "1": the store has this already
 * Answer: {1 if everything is there, the store's clock in ms, 1 if it was noted}, or {} if the store may have lost something since the
 * import.
 */
const ALIVE = `${INCARNATION}
local incarnation = incarnationOf(KEYS[1], ARGV[1])
if ARGV[2] ~= '' and ARGV[2] ~= incarnation then return {} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A former owner's sign may come late; or the store has lost the lease, which is taken again soon.
if redis.call('GET', KEYS[5]) ~= ARGV[6] then return {1, now, 0} end
local added = 0
if ARGV[7] ~= '1' or redis.call('HGET', KEYS[2], 'owner') ~= ARGV[6] then
  added = redis.call('HSET', KEYS[2], 'live', ARGV[4])
  if redis.call('HGET', KEYS[2], 'owner') ~= ARGV[6] then
    redis.call('HSET', KEYS[2], 'owner', ARGV[6])
    added = 1
  end
  if ARGV[5] ~= '' and redis.call('HGET', KEYS[2], 'ledger') ~= ARGV[5] then
    added = added + redis.call('HSET', KEYS[2], 'ledger', ARGV[5])
  end
  redis.call('ZADD', KEYS[3], now, ARGV[3])
end
-- A field is new, or of another owner: the Editor is back.
if added > 0 then redis.call('PUBLISH', '${channels.editors}', ARGV[3]) end
local known = redis.call('HMGET', KEYS[2], 'profile', 'imported')
local isWhole = known[1] and known[2] and redis.call('EXISTS', KEYS[4]) == 1
return {isWhole and 1 or 0, now, 1}
`;

/**
 * KEYS 1 incarnation, 2 editor, 3 editors; ARGV 1 a new incarnation, 2 that of the import, 3 the owner, 4 the Editor, 5 its last sign or
 *      empty: that it left is not known, 6 when that was, ms
 * An Editor that was forgotten meanwhile stays forgotten, and one that another owner has heard is there. A store that knows of a
 * departure is believed to know what the Editor ran before it: in another incarnation than that of the import it may not.
 */
const GONE = `${INCARNATION}
if redis.call('HGET', KEYS[2], 'owner') ~= ARGV[3] then return end
-- First: a Redis without memory refuses only what is written before anything was removed.
redis.call('HDEL', KEYS[2], 'owner')
if ARGV[5] ~= '' and incarnationOf(KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[2], 'live')
  redis.call('HSET', KEYS[2], 'last', ARGV[5])
  redis.call('ZADD', KEYS[3], 'XX', 'GT', ARGV[6], ARGV[4])
end
redis.call('PUBLISH', '${channels.editors}', ARGV[4])
`;

/**
 * KEYS 1 editor; ARGV 1 the session, 2 its end as JSON, 3 the Editor
 * Nobody hears it any more, whatever its owner said, which may have died with it.
 */
const ENDED = `
local profile = redis.call('HGET', KEYS[1], 'profile')
if profile and cjson.decode(profile).editorSessionId == ARGV[1] then redis.call('HDEL', KEYS[1], 'owner') end
redis.call('HSET', KEYS[1], 'ended', ARGV[2])
redis.call('PUBLISH', '${channels.editors}', ARGV[3])
`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbEditorAlive(
      ...keysAndArguments: string[]
    ): Result<[whole?: number, at?: number, noted?: number], Context>;
    ujbEditorEnded(key: string, session: string, end: string, editor: string): Result<null, Context>;
    ujbEditorGone(...keysAndArguments: (string | number)[]): Result<null, Context>;
  }
}

/** By then each gateway has noted that it misses the Editor no more, ms. */
const GIVEN_UP_MS = 7 * 24 * 3_600_000;

/** Expiry of a catalogue stored before its Editor was introduced, ms: its owner may die between the two. */
const UNKNOWN_CATALOG_MS = 3_600_000;

/** What Redis answers to TIME, ms since the epoch. */
const msOf = ([seconds, microseconds]: readonly (string | number)[]): number =>
  Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);

/** By the owner that heard the Editor last, and the one that holds its lease. */
const isHeard = (owner: string | null | undefined, lease: string | null): boolean =>
  Boolean(owner) && owner === lease;

/** The same, read for one Editor. */
export async function isConnected(redis: Redis, editor: string): Promise<boolean> {
  const [owner, lease] = await Promise.all([
    redis.hget(keys.editor(editor), "owner"),
    redis.get(keys.lease(editor)),
  ]);
  return isHeard(owner, lease);
}

export function createEditors(redis: Redis): Editors {
  redis.defineCommand("ujbEditorAlive", { numberOfKeys: 5, lua: ALIVE });
  redis.defineCommand("ujbEditorEnded", { numberOfKeys: 1, lua: ENDED });
  redis.defineCommand("ujbEditorGone", { numberOfKeys: 3, lua: GONE });
  const mutations = async (ids: readonly string[]): Promise<{ id: string; mutationSeq: number }[]> => {
    if (ids.length === 0) return [];
    const counts = await redis.mget(ids.map(keys.mutations));
    return ids.map((id, index) => ({ id, mutationSeq: Number(counts[index] ?? 0) }));
  };

  const find = async (editor: string): Promise<KnownEditor | undefined> => {
    const [[profile, live, last, ledger, ended, owner], lease, time, notedAt, [counted], diagnosis] =
      await Promise.all([
        redis.hmget(keys.editor(editor), "profile", "live", "last", "ledger", "ended", "owner"),
        redis.get(keys.lease(editor)),
        redis.time(),
        redis.zscore(keys.editors, editor),
        mutations([editor]),
        redis.hget(keys.diagnoses, editor),
      ]);
    if (!profile) return undefined;
    const connected = isHeard(owner, lease);
    return {
      profile: JSON.parse(profile) as EditorProfile,
      connected,
      live: live ? (JSON.parse(live) as EditorLive) : undefined,
      last: last ? (JSON.parse(last) as LastSign) : undefined,
      ledger: ledger ? (JSON.parse(ledger) as LedgerCheckpoint) : undefined,
      ended: ended ? (JSON.parse(ended) as KnownEditor["ended"]) : undefined,
      lastSeenAt: connected ? msOf(time) : Number(notedAt ?? 0),
      mutationSeq: counted?.mutationSeq ?? 0,
      diagnosis: diagnosis ? (JSON.parse(diagnosis) as PublicDiagnosis) : undefined,
    };
  };

  type Sign = Omit<Availability, "id" | "lastSeenAt">;
  const lookAt = async (editor: string): Promise<Sign> => {
    const [[profile, live, imported, owner], lease, open] = await Promise.all([
      redis.hmget(keys.editor(editor), "profile", "live", "imported", "owner"),
      redis.get(keys.lease(editor)),
      redis.exists(keys.open(editor)),
    ]);
    return {
      profile: profile ? (JSON.parse(profile) as EditorProfile) : undefined,
      connected: isHeard(owner, lease),
      isLive: Boolean(live),
      isOwned: lease !== null,
      hasOpen: open > 0,
      importedIn: imported ?? undefined,
    };
  };
  /** The ids of the last listing: requested together with the list, which has usually not changed. */
  let lately: string[] = [];

  const ids = async (): Promise<string[]> => (await redis.zrange(keys.editors, 0, "-1")) as string[];

  return {
    find,
    ids,
    mutations,

    async availability() {
      const signs = new Map(lately.map((id) => [id, lookAt(id)]));
      const listed = redis.zrange(keys.editors, 0, "-1", "WITHSCORES");
      const [scored, time] = await Promise.all([listed, redis.time(), ...signs.values()]);
      lately = scored.filter((_, at) => at % 2 === 0);
      return Promise.all(
        lately.map(async (id, at) => {
          const sign = await (signs.get(id) ?? lookAt(id));
          return { id, ...sign, lastSeenAt: sign.connected ? msOf(time) : Number(scored[2 * at + 1]) };
        }),
      );
    },

    async introduce(profile) {
      const { editorId } = profile;
      const [seconds] = await redis.time();
      const isNew = await redis.zadd(keys.editors, "NX", Number(seconds) * 1000, editorId);
      const before = await redis.hget(keys.editor(editorId), "profile");
      const text = JSON.stringify(profile);
      await redis.multi().hset(keys.editor(editorId), "profile", text).persist(keys.catalog(editorId)).exec();
      if (Number(isNew) === 1 || before !== text) await redis.publish(channels.editors, editorId);
    },

    async alive(editor, { owner, live, ledger, importedIn, isNoted }) {
      const [whole, at, noted] = await redis.ujbEditorAlive(
        ...[keys.incarnation, keys.editor(editor), keys.editors, keys.catalog(editor), keys.lease(editor)],
        ...[randomUUID(), importedIn, editor, JSON.stringify(live), ledger ? JSON.stringify(ledger) : ""],
        ...[owner, isNoted ? "1" : ""],
      );
      if (at === undefined) return { kind: "outdated" };
      return { kind: noted === 1 ? "noted" : "refused", isWhole: whole === 1, at };
    },

    async gone(editor, owner, left) {
      const { last, importedIn = "" } = left ?? {};
      await redis.ujbEditorGone(
        ...[keys.incarnation, keys.editor(editor), keys.editors, randomUUID(), importedIn],
        ...[owner, editor, last ? JSON.stringify(last) : "", last?.at ?? 0],
      );
    },

    async ended(editor, editorSessionId, now) {
      const end = JSON.stringify({ editorSessionId, at: now });
      await redis.ujbEditorEnded(keys.editor(editor), editorSessionId, end, editor);
    },

    async knowAgain({ profile, lastSeenAt, ended, tools }) {
      const { editorId } = profile;
      const now = Number((await redis.time())[0]) * 1000;
      const known = { profile: JSON.stringify(profile), ...(ended ? { ended: JSON.stringify(ended) } : {}) };
      const write = redis
        .multi()
        .zadd(keys.editors, "NX", Math.min(lastSeenAt, now), editorId)
        .set(keys.catalog(editorId), JSON.stringify(tools), "NX");
      // Both name their session: what ended an earlier one says nothing of the one that came meanwhile.
      for (const [field, value] of Object.entries(known)) {
        write.hsetnx(keys.editor(editorId), field, value);
      }
      await write.publish(channels.editors, editorId).exec();
    },

    async forget(editor, givenUpIn) {
      const [seconds] = await redis.time();
      const steps = redis.multi();
      const givenUp = keys.givenUp(givenUpIn ?? "");
      if (givenUpIn !== undefined) steps.sadd(givenUp, editor).pexpire(givenUp, GIVEN_UP_MS);
      await steps
        // It may predate that set. The rest of its keys is removed step by step (forgotten.ts).
        .zadd(keys.served, Number(seconds) * 1000, editor)
        .zrem(keys.editors, editor)
        .del(keys.editor(editor), keys.catalog(editor))
        .hdel(keys.diagnoses, editor)
        .publish(channels.editors, editor)
        .exec();
    },

    givenUp: (incarnation) => redis.smembers(keys.givenUp(incarnation)),

    async reportDiagnosis(editor, diagnosis) {
      const before = await redis.hget(keys.diagnoses, editor);
      if (diagnosis) await redis.hset(keys.diagnoses, editor, JSON.stringify(diagnosis));
      else await redis.hdel(keys.diagnoses, editor);
      const codeBefore = before ? (JSON.parse(before) as PublicDiagnosis).code : undefined;
      if (codeBefore !== diagnosis?.code) await redis.publish(channels.editors, editor);
    },

    async diagnoses() {
      const reported = Object.entries(await redis.hgetall(keys.diagnoses));
      return new Map(reported.map(([editor, text]) => [editor, JSON.parse(text) as PublicDiagnosis]));
    },

    async all() {
      const found = await Promise.all((await ids()).map(find));
      return found.filter((editor) => editor !== undefined);
    },

    async tools(editor) {
      const text = await redis.get(keys.catalog(editor));
      return text === null ? [] : (JSON.parse(text) as Tool[]);
    },

    async publishTools(editor, tools) {
      const text = JSON.stringify(tools);
      const before = await redis.set(keys.catalog(editor), text, "GET");
      if ((await redis.zscore(keys.editors, editor)) === null) {
        await redis.pexpire(keys.catalog(editor), UNKNOWN_CATALOG_MS);
      }
      if (before === text) return false;
      await redis.publish(channels.editors, editor);
      return true;
    },
  };
}
