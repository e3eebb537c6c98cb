/**
 * ▲4 Which Editors must be back before a call may be sent to one that it does not name: after the store was lost, the
 * operation that such a call repeats may be in the ledger of an Editor that the store does not know yet (▲13).
 */

/** As they were noted, outside of the store. */
export interface NotedEditors {
  /** The store's, in which everything that these Editors ran was known to the store. */
  incarnation: string;
  /** When it was first seen that the store has another one now, ms, store clock … */
  changedAt?: number | undefined;
  /** … which was this one. A further loss begins the time anew: what it lost is younger. */
  changedTo?: string | undefined;
  /** By id. */
  editors: Record<string, NotedEditor>;
}

export interface NotedEditor {
  /** When the store saw it last before it went away, ms; undefined: it was there, or had an operation to come for. */
  leftAt?: number | undefined;
}

/** As the store knows it now. */
export interface StoredEditor {
  id: string;
  isLive: boolean;
  /** An operation waits for it or is with it. */
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
  /** How long outcomes are kept, ms: after that no ledger answers a call from before the loss. */
  retentionMs: number;
}

/**
 * What to note now, and whom to wait for: in the noted incarnation nobody; in another one each noted Editor whose
 * ledger was not imported in it, unless it was away and the store still knows that it had left. What is noted keeps its
 * incarnation until nobody is missing.
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

/** As much as two gateways that look at different moments can be apart, and more. */
const REMEMBERED = 50;

/** The incarnations that were seen, the present one last. */
export function seenWith(seen: readonly string[] | undefined, incarnation: string): string[] {
  return [...(seen ?? []).filter((each) => each !== incarnation), incarnation].slice(-REMEMBERED);
}

/**
 * ▲13 Is the store an older copy of itself, which does not know that it has lost something? It is in a run of Redis that
 * is not the noted one nor the next, or in an incarnation that was over.
 */
export function isOlderCopy(
  noted: { incarnation: string; run?: string | undefined; seen?: readonly string[] | undefined },
  store: { incarnation: string; runs: readonly string[] },
): boolean {
  if (noted.seen?.slice(0, -1).includes(store.incarnation)) return true;
  if (noted.run === undefined || noted.incarnation !== store.incarnation) return false;
  return !store.runs.includes(noted.run);
}

/** What is lost is the end of what was written: a store that knows that it left knows what it ran. */
function isBack({ leftAt }: NotedEditor, stored: StoredEditor | undefined, incarnation: string): boolean {
  if (stored === undefined) return false;
  if (stored.importedIn === incarnation) return true;
  return leftAt !== undefined && !stored.isLive && stored.lastSeenAt >= leftAt;
}

/** One that has something to run may come and leave unseen: when it left then, nobody will have noted. */
function asItIs({ id, isLive, hasOpen, lastSeenAt }: StoredEditor): [string, NotedEditor] {
  return [id, isLive || hasOpen ? {} : { leftAt: lastSeenAt }];
}
