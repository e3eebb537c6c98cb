/**
 * A person says that an Editor will not come back: what is open on it ends, and no call can mean it any more. Its
 * operations stay readable. If it does come back, it is known again from its next hello.
 */
import { BrokerError } from "../shared/errors.js";
import {
  type Evidence,
  next,
  nextAfter,
  type OperationEvent,
  type OperationRecord,
} from "../shared/operation.js";
import type { KnownEditor } from "../shared/redis/editors.js";
import type { Change } from "../shared/redis/operations.js";
import type { Store } from "../shared/redis/store.js";
import type { Candidate } from "../shared/target.js";
import { isSurelyUnsent, type LossKnown } from "../shared/unsent.js";
import type { KnownEditorsReader } from "./known-editors.js";
import { namedAmong } from "./target-error.js";

/** `error_type` of what ended this way. */
const TYPE = "editor_forgotten";

export interface Forgotten {
  editor: Candidate;
  /** As they are now: interrupted what was sent or may have been, expired what was not. */
  ended: OperationRecord[];
}

export type ForgetDeps = Pick<Store, "editors" | "operations" | "queues"> & {
  knownEditors: Pick<KnownEditorsReader, "read" | "drop">;
};

export interface ForgetOptions {
  /** Also while its worker still waits for it to connect again; never while it is connected. */
  force?: boolean;
}

/**
 * `named`: an id, its unique beginning, or a project's name. Throws EDITOR_UNKNOWN, EDITOR_AMBIGUOUS, NO_EDITOR, or
 * EDITOR_CONNECTED; then nothing has changed.
 */
export async function forgetEditor(
  deps: ForgetDeps,
  named: string,
  { force = false }: ForgetOptions = {},
): Promise<Forgotten> {
  const { editors, operations, queues, knownEditors } = deps;
  const { candidates, missing } = await knownEditors.read();
  const editor = namedAmong(named, [...candidates, ...onlyNoted(missing, candidates)]);
  if (editor instanceof BrokerError) throw editor;
  if (editor.connected || (editor.isReturning && !force)) throw stillThere(editor);

  const known = await editors.find(editor.id);
  const ended: OperationRecord[] = [];
  const endAll = async (): Promise<void> => {
    const loss = await knownEditors.read();
    for (const { logId } of await operations.openOf(editor.id)) {
      const change = (record: OperationRecord, now: number) => endedBy(record, known, loss, now);
      const changed = await operations.change(logId, change, { incarnation: loss.incarnation });
      if (changed.kind === "incarnation") return endAll();
      if (changed.kind !== "applied") continue;
      await queues.remove(changed.record);
      ended.push(changed.record);
    }
  };
  await endAll();
  await editors.forget(editor.id);
  // What was accepted meanwhile; from now on no call can mean this Editor.
  await endAll();
  await knownEditors.drop(editor.id);
  return { editor, ended };
}

/** The store was lost, and knows nothing of these. */
function onlyNoted(missing: readonly string[], candidates: readonly Candidate[]): Candidate[] {
  const stored = new Set(candidates.map(({ id }) => id));
  return missing
    .filter((id) => !stored.has(id))
    .map((id) => ({ id, projectName: "", projectPath: "", connected: false }));
}

/** Undefined: it has ended already. */
function endedBy(
  record: OperationRecord,
  known: KnownEditor | undefined,
  loss: LossKnown,
  now: number,
): Change | undefined {
  const expired = next(record.state, "expired");
  if (expired && !isSurelyUnsent(record, loss)) return mayHaveRun(record, now);
  if (expired) {
    const message = `It never started: its Editor (${record.editor}) was forgotten as gone.`;
    return {
      record: { ...record, state: expired, endedAt: now, error: { code: "EXPIRED", type: TYPE, message } },
    };
  }
  const interrupted = next(record.state, "interrupted");
  if (!interrupted) return undefined;
  const message = `It was sent, and its Editor (${record.editor}) was forgotten as gone before it told the outcome.`;
  const error = { code: "OUTCOME_UNKNOWN", type: TYPE, message };
  return {
    record: { ...record, state: interrupted, endedAt: now, error, evidence: lastSignsOf(known, record) },
  };
}

/** ▲13 An older copy of the store says that it waits. What the copy knows of the Editor is no evidence either. */
function mayHaveRun(record: OperationRecord, now: number): Change | undefined {
  const sent: OperationEvent[] = record.state === "accepted" ? ["job_added", "claimed"] : ["claimed"];
  const state = nextAfter(record.state, [...sent, "interrupted"]);
  if (!state) return undefined;
  const message = `The store was put back, and whether it was sent is not known: its Editor (${record.editor}) was forgotten as gone.`;
  const error = { code: "OUTCOME_UNKNOWN", type: TYPE, message };
  return { record: { ...record, state, endedAt: now, error } };
}

function lastSignsOf(known: KnownEditor | undefined, { logId, executedAs }: OperationRecord): Evidence {
  const sign = known?.live ?? known?.last;
  if (!known || !sign) return {};
  return {
    lastHeartbeatAt: known.lastSeenAt,
    phase: sign.phase,
    mainThreadStallMs: sign.mainThreadStallMs,
    wasRunning: sign.runningOperationId === (executedAs ?? logId),
  };
}

function stillThere({ id, connected }: Candidate): BrokerError {
  const why = connected
    ? `${id} is connected: what it runs would be called unknown while it goes on.`
    : `${id} was connected a short while ago, and its worker waits for it; with --force it is forgotten all the same.`;
  return new BrokerError("EDITOR_CONNECTED", why);
}
