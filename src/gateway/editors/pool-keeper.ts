/**
 * What the janitor does for pools (▲13): an operation that an Editor has taken and not begun goes back when that Editor is away, and
 * what was accepted before a loss of the store waits until no Editor is missing any more.
 */
import { isMember, labelsOf } from "../../shared/editors/target.js";
import {
  fieldsOf,
  isFromBeforeLoss,
  isSurelyUnsent,
  isWaiting,
  type OperationRecord,
  type StoreLosses,
} from "../../shared/operation/operation.js";
import type { KnownEditor } from "../../shared/store/editors/editors.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";

export function membersIn(pool: string, editors: readonly KnownEditor[]): KnownEditor[] {
  return editors.filter(({ profile }) => isMember(pool, labelsOf(profile)));
}

/** When one of its Editors was last seen, ms, store clock; 0: none is known. */
export function lastSeenIn(pool: string, editors: readonly KnownEditor[]): number {
  return Math.max(0, ...membersIn(pool, editors).map(({ lastSeenAt }) => lastSeenAt));
}

/** Should the operation leave the Editor that has taken it from its pool? `begins`: the Editor is connected, and not paused. */
export function goesBack(record: OperationRecord, begins: boolean, losses: StoreLosses): boolean {
  if (record.pool === undefined || record.pool === record.editor) return false;
  const isTaken = isWaiting(record.state) && record.sentIn === undefined && record.executedAs === undefined;
  return isTaken && (!begins || isFromBeforeLoss(record, losses.incarnation));
}

/** Is it held back since a loss of the store, and need not be any more? */
export function opensAgain(record: OperationRecord, losses: StoreLosses): boolean {
  const isHeld = record.pool === record.editor && record.incarnation !== losses.incarnation;
  return isHeld && isSurelyUnsent(record, losses);
}

export function createPoolKeeper({ store, log }: { store: Pick<Store, "operations" | "pools">; log: Log }) {
  const { operations } = store;
  return {
    async giveBack(given: OperationRecord, begins: boolean, losses: StoreLosses): Promise<void> {
      const to = (record: OperationRecord): string | undefined =>
        goesBack(record, begins, losses) ? record.pool : undefined;
      const moved = await operations.move(given.logId, to, { incarnation: losses.incarnation });
      if (moved === "moved")
        log.info(fieldsOf(given), "the Editor does not begin it: the operation is its pool's again");
    },

    async open({ logId }: OperationRecord, losses: StoreLosses): Promise<void> {
      const { incarnation } = losses;
      const opened = await operations.change(
        logId,
        (record) => (opensAgain(record, losses) ? { record: { ...record, incarnation } } : undefined),
        { incarnation },
      );
      if (opened.kind === "applied") await store.pools.wake();
    },
  };
}
