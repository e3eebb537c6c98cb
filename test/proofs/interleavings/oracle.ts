/**
 * What must hold, judged from outside: by what callers intended and read, and what the Editor began; never by the
 * records' own fields about deliveries.
 *
 * An **intent** is one caller's decision that a call be executed. Every request that it sends for it, again and again,
 * belongs to the same intent. Then:
 * - an operation id begins at most once (reads excepted), and never after its record said that it ended;
 * - an intent is executed at most once, unless what was executed for it has been delivered to an open request at least a replay
 *   window ago; a key only once, but for `force_new`;
 * - no operation is made beside an open one of the same call, and none takes another's outcome unless the store has
 *   forgotten something;
 * - after an execution whose outcome is unknown, only `force_new` or another key executes that call.
 */

import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import { isFinal, type OperationRecord } from "../../../src/shared/operation/operation.js";
import type { Entry } from "./editor.js";

export interface Intent {
  tool: string;
  arguments: Record<string, unknown>;
  /** The log_id that `force_new` names. */
  supersedes?: string;
  /** The caller knows how it ended. */
  over: boolean;
  /** Its requests that are not answered and not given up. */
  waiting: Set<number>;
  logId?: string;
}

export type Oracle = ReturnType<typeof createOracle>;

export function createOracle(now: () => number) {
  const faults: string[] = [];
  const intentOfRequest = new Map<string, Intent>();
  const created = new Map<string, { intent: Intent | undefined; at: number; record: OperationRecord }>();
  const begun: { entry: Entry; intent: Intent | undefined }[] = [];
  /** When a request received the final outcome of an operation. */
  const written: { id: string; at: number }[] = [];
  let recordOf: (logId: string) => OperationRecord | undefined = () => undefined;
  const fail = (fault: string): void => {
    faults.push(fault);
  };

  const toldLongAgo = ({ operationId, outcome }: Entry, at: number): boolean => {
    const reported = written.filter(({ id }) => id === operationId);
    const first = Math.min(...reported.map((one) => one.at));
    return at - first >= Math.max(REPLAY_DEFAULTS.replayWindowMs, 2 * (outcome?.executionMs ?? 0));
  };

  return {
    faults: (): readonly string[] => faults,
    fail,
    /** The rolled-back store may have forgotten that something ended. */
    readsRecords(read: typeof recordOf): void {
      recordOf = read;
    },
    sends(caller: string, requestId: unknown, intent: Intent): void {
      intentOfRequest.set(`${caller} ${requestId}`, intent);
    },
    creates(record: OperationRecord, others: readonly OperationRecord[]): void {
      // What a forced run supersedes has its answer in that, and what it has overtaken runs in its own turn: they block nobody.
      const isOpen = others.some(
        (other) =>
          other.hash === record.hash &&
          !isFinal(other.state) &&
          !others.some(
            ({ hash, supersedes, order }) =>
              supersedes === other.logId || (supersedes && hash === other.hash && order > other.order),
          ),
      );
      if (isOpen && record.effect === "mutating" && record.supersedes === undefined) {
        fail(`${record.logId} is made beside an open operation`);
      }
      const { caller, requestId } = record.createdBy;
      created.set(record.logId, { intent: intentOfRequest.get(`${caller} ${requestId}`), at: now(), record });
    },
    writes({ logId, executedAs }: OperationRecord): void {
      written.push({ id: executedAs ?? logId, at: now() });
    },

    begins(entry: Entry, all: readonly Entry[]): void {
      const id = entry.operationId;
      const made = created.get(id);
      if (!made) {
        fail(`${id} begins without a record`);
        return;
      }
      const { intent, at, record } = made;
      // A read lives in the Editor's memory only: where that is lost, it is sent again.
      if (entry.readOnly) return;
      if (begun.some((earlier) => earlier.entry.operationId === id)) fail(`${id} begins twice`);
      const state = recordOf(id)?.state;
      if (state && isFinal(state)) fail(`${id} begins although it is ${state}`);
      const earlier = begun.filter(({ entry: { hash } }) => hash === entry.hash);
      begun.push({ entry, intent });
      if (record.effect !== "mutating" || earlier.length === 0) return;
      const last = earlier.at(-1)?.entry;
      if (!last) return;
      const isForced = record.supersedes !== undefined;
      // The newest one answers; where that was shown to somebody a whole window ago, the call is a new one.
      const isNewCall = !isForced && toldLongAgo(last, at);
      const wasForced = [...created.values()].some(
        (one) => one.record.hash === entry.hash && one.record.supersedes,
      );
      if (record.keyed && !wasForced) fail(`${id} executes a key again`);
      else if (earlier.some((other) => intent !== undefined && other.intent === intent)) {
        if (!isNewCall) fail(`${id} executes an intent again`);
      }
      const unknown = all.find((other) => other.operationId === last.operationId);
      if (unknown?.state === "interrupted" && !isForced)
        fail(`${id} repeats ${last.operationId}, whose outcome is unknown`);
    },
  };
}
