/** Every Editor ever seen: who it is, how it is, and its tools, so that no list has to wait for Unity. */
import type { Redis } from "ioredis";
import type { LedgerMemory } from "../ledger-memory.js";
import type { EditorMark } from "../operation.js";
import type { Tool } from "../tool.js";
import type { Trouble } from "../trouble.js";
import { channels, keys } from "./keys.js";

export interface EditorProfile extends EditorMark {
  editorId: string;
  projectName: string;
  projectPath: string;
  unityVersion: string;
  pid: number;
  /** Its process, where the machine that it runs on could tell which one that is. */
  process?: EditorProcess;
  /** Its bridge keeps no ledger, and tells neither generation nor asset counter (docs/protocol.md, "Plain Editors"). */
  plain?: true;
}

/** Only workers on this machine can say whether it lives. */
export interface EditorProcess {
  machine: string;
  pid: number;
  /** Its start as the system tells it: an id alone may be given to another process later. */
  mark?: string | undefined;
}

/** The last sign of life, as told by the owner. */
export interface EditorLive {
  phase: string;
  mainThreadStallMs: number;
  queued: number;
  runningOperationId?: string;
}

/** What is kept of the last sign of life when the Editor is away, ms since the epoch on the store's clock. */
export interface LastSign extends EditorLive {
  editorSessionId: string;
  at: number;
}

/** How long a trouble is believed without being told again, ms: its owner may have died. */
export const TROUBLE_STANDS_MS = 15_000;

/** What keeps an Editor from working. */
export interface ToldTrouble extends Trouble {
  project: string;
  /** ms since the epoch, store clock. */
  at: number;
}

export interface KnownEditor {
  trouble?: ToldTrouble | undefined;
  profile: EditorProfile;
  live: EditorLive | undefined;
  /** Before it went away; undefined when it never did. */
  last?: LastSign | undefined;
  /** The last session whose process is proven to be gone, and when that was found out. */
  ended?: { editorSessionId: string; at: number } | undefined;
  /** What was seen of its journal (▲10 (c)); a plain Editor has none. */
  ledger?: LedgerMemory | undefined;
  /** ms since the epoch, store clock. */
  lastSeenAt: number;
  mutationSeq: number;
}

/** Whether a known Editor is there, at one moment. */
export interface Presence {
  id: string;
  /** Undefined: it is just being introduced. */
  profile: EditorProfile | undefined;
  /** It showed signs of life, and nobody has said since that it went away. */
  isLive: boolean;
  /** A worker holds its lease: it has found the Editor's process, connected or not. */
  isOwned: boolean;
  /** An operation waits for it or is with it: it may come and run it while no gateway lives to see that. */
  hasOpen: boolean;
  /** The incarnation of the store in which its ledger was last imported (▲13). */
  importedIn: string | undefined;
  /** ms since the epoch, store clock. */
  lastSeenAt: number;
}

export interface Editors {
  /** An Editor answered hello. */
  introduce(profile: EditorProfile): Promise<void>;
  /** A heartbeat came; call it at most once a second. */
  alive(editor: string, live: EditorLive, now: number, ledger: LedgerMemory | undefined): Promise<void>;
  /** The Editor went away: `lastSeenAt` stays, and what was known of it then. */
  gone(editor: string, last: LastSign | undefined): Promise<void>;
  /** The process of this session is gone: whatever it was running has ended, nobody knows how. */
  ended(editor: string, editorSessionId: string, now: number): Promise<void>;
  /** The Editor has been away for so long that no call should be asked whether it means this one. */
  forget(editor: string): Promise<void>;
  /** What keeps the Editor from working, also one that never answered hello; undefined: nothing any more. */
  tellTrouble(editor: string, trouble: ToldTrouble | undefined): Promise<void>;
  /** By Editor, those included that never answered hello. */
  troubles(): Promise<Map<string, ToldTrouble>>;
  ids(): Promise<string[]>;
  /** All of them, those seen last at the end; usually in one round trip. */
  presence(): Promise<Presence[]>;
  mutations(editors: readonly string[]): Promise<{ id: string; mutationSeq: number }[]>;
  find(editor: string): Promise<KnownEditor | undefined>;
  all(): Promise<KnownEditor[]>;
  tools(editor: string): Promise<Tool[]>;
  /** Stores the catalogue; true if it differs from the stored one. */
  publishTools(editor: string, tools: readonly Tool[]): Promise<boolean>;
}

/** Of a catalogue whose Editor was not introduced yet: between the two its owner may die, ms. */
const UNKNOWN_CATALOG_MS = 3_600_000;

export function createEditors(redis: Redis): Editors {
  const mutations = async (ids: readonly string[]): Promise<{ id: string; mutationSeq: number }[]> => {
    if (ids.length === 0) return [];
    const counts = await redis.mget(ids.map(keys.mutations));
    return ids.map((id, index) => ({ id, mutationSeq: Number(counts[index] ?? 0) }));
  };

  const find = async (editor: string): Promise<KnownEditor | undefined> => {
    const [[profile, live, last, ledger, ended], lastSeenAt, [counted], trouble] = await Promise.all([
      redis.hmget(keys.editor(editor), "profile", "live", "last", "ledger", "ended"),
      redis.zscore(keys.editors, editor),
      mutations([editor]),
      redis.hget(keys.troubles, editor),
    ]);
    if (!profile) return undefined;
    return {
      profile: JSON.parse(profile) as EditorProfile,
      live: live ? (JSON.parse(live) as EditorLive) : undefined,
      last: last ? (JSON.parse(last) as LastSign) : undefined,
      ledger: ledger ? (JSON.parse(ledger) as LedgerMemory) : undefined,
      ended: ended ? (JSON.parse(ended) as KnownEditor["ended"]) : undefined,
      lastSeenAt: Number(lastSeenAt ?? 0),
      mutationSeq: counted?.mutationSeq ?? 0,
      trouble: trouble ? (JSON.parse(trouble) as ToldTrouble) : undefined,
    };
  };

  type Sign = Omit<Presence, "id" | "lastSeenAt">;
  const signOf = async (editor: string): Promise<Sign> => {
    const [[profile, live, imported], leases, open] = await Promise.all([
      redis.hmget(keys.editor(editor), "profile", "live", "imported"),
      redis.exists(keys.lease(editor)),
      redis.exists(keys.open(editor)),
    ]);
    return {
      profile: profile ? (JSON.parse(profile) as EditorProfile) : undefined,
      isLive: Boolean(live),
      isOwned: leases > 0,
      hasOpen: open > 0,
      importedIn: imported ?? undefined,
    };
  };
  /** As listed the last time: asked for together with the list, which is usually still the same. */
  let lately: string[] = [];

  const ids = async (): Promise<string[]> => (await redis.zrange(keys.editors, 0, "-1")) as string[];

  return {
    find,
    ids,
    mutations,

    async presence() {
      const signs = new Map(lately.map((id) => [id, signOf(id)]));
      const listed = redis.zrange(keys.editors, 0, "-1", "WITHSCORES");
      const [scored] = await Promise.all([listed, ...signs.values()]);
      lately = scored.filter((_, at) => at % 2 === 0);
      return Promise.all(
        lately.map(async (id, at) => ({
          id,
          lastSeenAt: Number(scored[2 * at + 1]),
          ...(await (signs.get(id) ?? signOf(id))),
        })),
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

    async alive(editor, live, now, ledger) {
      const seen = ledger ? { ledger: JSON.stringify(ledger) } : {};
      const written = await redis
        .multi()
        .hset(keys.editor(editor), { live: JSON.stringify(live), ...seen })
        .zadd(keys.editors, now, editor)
        .exec();
      // A field is new: the Editor is back.
      if (Number(written?.[0]?.[1]) > 0) await redis.publish(channels.editors, editor);
    },

    async gone(editor, last) {
      // One that was forgotten meanwhile stays so.
      const isKnown = (await redis.exists(keys.editor(editor))) === 1;
      if (last && isKnown) await redis.hset(keys.editor(editor), "last", JSON.stringify(last));
      await redis.hdel(keys.editor(editor), "live");
      await redis.publish(channels.editors, editor);
    },

    async ended(editor, editorSessionId, now) {
      await redis.hset(keys.editor(editor), "ended", JSON.stringify({ editorSessionId, at: now }));
      await redis.publish(channels.editors, editor);
    },

    async forget(editor) {
      const [seconds] = await redis.time();
      await redis
        .multi()
        // Known before that set was: what else it left is removed by and by (forgotten.ts).
        .zadd(keys.served, Number(seconds) * 1000, editor)
        .zrem(keys.editors, editor)
        .del(keys.editor(editor), keys.catalog(editor))
        .hdel(keys.troubles, editor)
        .publish(channels.editors, editor)
        .exec();
    },

    async tellTrouble(editor, trouble) {
      const before = await redis.hget(keys.troubles, editor);
      if (trouble) await redis.hset(keys.troubles, editor, JSON.stringify(trouble));
      else await redis.hdel(keys.troubles, editor);
      const codeBefore = before ? (JSON.parse(before) as ToldTrouble).code : undefined;
      if (codeBefore !== trouble?.code) await redis.publish(channels.editors, editor);
    },

    async troubles() {
      const told = Object.entries(await redis.hgetall(keys.troubles));
      return new Map(told.map(([editor, text]) => [editor, JSON.parse(text) as ToldTrouble]));
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
