/**
 * Choice of target (▲4): which Editors must be back before a call that names no Editor may be sent: after the store was
 * lost, the operation that such a call repeats may be in the ledger of an Editor that the store does not know yet
 * (▲13).
 */

/** The Editors as noted outside the store. */
export interface NotedEditors {
  /** The store's incarnation in which it knew everything that these Editors ran. */
  incarnation: string;
  /** When a change of incarnation was first seen, ms, store clock … */
  changedAt?: number | undefined;
  /** … and the incarnation it changed to. A further loss restarts the time, since it lost younger operations. */
  changedTo?: string | undefined;
  /** By id. */
  editors: Record<string, NotedEditor>;
}

export interface NotedEditor {
  /** When the store saw it last before it went away, ms; undefined: it was connected, or had an open operation. */
  leftAt?: number | undefined;
}

/** An Editor as the store knows it now. */
export interface StoredEditor {
  id: string;
  isLive: boolean;
  /** An operation waits for it or was sent to it. */
  hasOpen: boolean;
  /** ms since the epoch, store clock. */
  lastSeenAt: number;
  /** The incarnation in which its ledger was last imported. */
  importedIn: string | undefined;
}

export interface StoreNow {
  incarnation: string;
  editors: readonly StoredEditor[];
  /** ms since the epoch, store clock. */
  now: number;
  /** How long outcomes are kept, ms: after that, no ledger answers a call from before the loss. */
  retentionMs: number;
}

/**
 * What to note now, and which Editors to wait for. In the noted incarnation: none. In another one: each noted Editor whose
 * ledger was not imported in it, unless it was away and the store still knows that. The note keeps its incarnation until no
 * Editor is missing.
 */
export function compareEditors(
  noted: NotedEditors | undefined,
  { incarnation, editors, now, retentionMs }: StoreNow,
): { noted: NotedEditors; missing: string[] } {
  const asTheyAre = editors.map(asItIs);
  const settled = { noted: { incarnation, editors: Object.fromEntries(asTheyAre) }, missing: [] };
  if (noted === undefined || noted.incarnation === incarnation) return settled;
  const changedAt = noted.changedTo === incarnation ? (noted.changedAt ?? now) : now;
  if (now - changedAt >= retentionMs) return settled;
  const known = new Map(editors.map((editor) => [editor.id, editor]));
  const missing = Object.entries(noted.editors).filter(
    ([id, editor]) => !isBack(editor, known.get(id), incarnation),
  );
  if (missing.length === 0) return settled;
  const still = missing.map(([id, editor]) => [id, known.get(id)?.isLive ? {} : editor] as const);
  return {
    noted: {
      incarnation: noted.incarnation,
      changedAt,
      changedTo: incarnation,
      editors: Object.fromEntries([...asTheyAre, ...still]),
    },
    missing: missing.map(([id]) => id),
  };
}

/** More than two gateways that look at different moments can be apart. */
const REMEMBERED = 50;

/** The incarnations seen so far, the present one last. */
export function seenWith(seen: readonly string[] | undefined, incarnation: string): string[] {
  return [...(seen ?? []).filter((each) => each !== incarnation), incarnation].slice(-REMEMBERED);
}

/**
 * Store incarnation (▲13): is the store an older copy of itself, which does not know that it has lost something? True
 * if its Redis run is neither the noted one nor the next, or if its incarnation had already ended.
 */
export function isOlderCopy(
  noted: { incarnation: string; run?: string | undefined; seen?: readonly string[] | undefined },
  store: { incarnation: string; runs: readonly string[] },
): boolean {
  if (noted.seen?.slice(0, -1).includes(store.incarnation)) return true;
  if (noted.run === undefined || noted.incarnation !== store.incarnation) return false;
  return !store.runs.includes(noted.run);
}

/** A loss removes the latest writes: a store that knows that the Editor left also knows what it ran. */
function isBack({ leftAt }: NotedEditor, stored: StoredEditor | undefined, incarnation: string): boolean {
  if (stored === undefined) return false;
  if (stored.importedIn === incarnation) return true;
  return leftAt !== undefined && !stored.isLive && stored.lastSeenAt >= leftAt;
}

/** An Editor with an open operation may come and run it unseen, so its departure is not noted. */
function asItIs({ id, isLive, hasOpen, lastSeenAt }: StoredEditor): [string, NotedEditor] {
  return [id, isLive || hasOpen ? {} : { leftAt: lastSeenAt }];
}
