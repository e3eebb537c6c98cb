/**
 * A person says that an Editor will not come back: its open operations end, and no call can name it any more. Its
 * operations stay readable. If it does come back, it is known again from its next hello.
 */
import type { Candidate } from "../../shared/editors/target.js";
import { BrokerError } from "../../shared/errors.js";
import {
  type Evidence,
  isFromBeforeLoss,
  isSurelyUnsent,
  isWaiting,
  next,
  nextAfter,
  type OperationRecord,
  type StoreLosses,
} from "../../shared/operation/operation.js";
import type { KnownEditor } from "../../shared/store/editors/editors.js";
import type { Change } from "../../shared/store/operations/record.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import type { KnownEditorsReader } from "./known-editors.js";
import { createPoolKeeper } from "./pool-keeper.js";
import { namedAmong } from "./target-error.js";

/** `error_type` of operations that ended this way. */
const TYPE = "editor_forgotten";

export interface ForgetResult {
  editor: Candidate;
  /** Their present records: interrupted if they were or may have been sent, else expired. */
  ended: OperationRecord[];
}

export type ForgetDeps = Pick<Store, "editors" | "operations" | "pools" | "queues"> & {
  knownEditors: Pick<KnownEditorsReader, "read" | "drop">;
  log: Log;
};

export interface ForgetOptions {
  /** Forget it even while its worker waits for it to reconnect; never while it is connected. */
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
): Promise<ForgetResult> {
  const { editors, operations, queues, knownEditors } = deps;
  const { candidates, missing } = await knownEditors.read();
  const editor = namedAmong(named, [...candidates, ...onlyNoted(missing, candidates)]);
  if (editor instanceof BrokerError) throw editor;
  if (editor.connected || (editor.isReturning && !force)) throw stillThere(editor);

  const known = await editors.find(editor.id);
  const pools = createPoolKeeper({ store: deps, log: deps.log });
  const ended: OperationRecord[] = [];
  /** Store incarnation (▲13): what waits for a pool since before a loss, this Editor may have run: it is not given to another. */
  const inDoubt = async ({ missing: absent, incarnation }: StoreLosses): Promise<OperationRecord[]> => {
    if (!absent.includes(editor.id)) return [];
    const queues = [...(await deps.pools.ids()), ...(await editors.ids())];
    const open = await Promise.all(queues.map((queue) => operations.openOf(queue)));
    return open.flat().filter((record) => isWaiting(record.state) && isFromBeforeLoss(record, incarnation));
  };
  const endAll = async (): Promise<void> => {
    const loss = await knownEditors.read();
    const open = await operations.openOf(editor.id);
    for (const waiting of [...open, ...(await inDoubt(loss))]) {
      const { logId } = waiting;
      // Taken from its pool, and not sent: another Editor may run it.
      if (!isFromBeforeLoss(waiting, loss.incarnation)) await pools.giveBack(waiting, false, loss);
      const change = (record: OperationRecord, now: number) =>
        record.editor === waiting.editor ? endedBy(record, known, loss, now) : undefined;
      const changed = await operations.change(logId, change, { incarnation: loss.incarnation });
      if (changed.kind === "incarnation") return endAll();
      if (changed.kind !== "applied") continue;
      await queues.remove(changed.record);
      ended.push(changed.record);
    }
  };
  await endAll();
  await editors.forget(editor.id, await operations.incarnation());
  // Operations accepted meanwhile; from now on no call can name this Editor.
  await endAll();
  await knownEditors.drop(editor.id);
  return { editor, ended };
}

/** The noted Editors that the store, after its loss, does not know. */
function onlyNoted(missing: readonly string[], candidates: readonly Candidate[]): Candidate[] {
  const stored = new Set(candidates.map(({ id }) => id));
  return missing
    .filter((id) => !stored.has(id))
    .map((id) => ({ id, projectName: "", projectPath: "", connected: false, labels: [] }));
}

/** Undefined if it has ended already. */
function endedBy(
  record: OperationRecord,
  known: KnownEditor | undefined,
  loss: StoreLosses,
  now: number,
): Change | undefined {
  const expired = next(record.state, "expired");
  if (expired && !isSurelyUnsent(record, loss)) return mayHaveRun(record, now);
  if (expired) {
    const message = `It never started: its Editor (${record.editor}) was forgotten.`;
    return {
      record: { ...record, state: expired, endedAt: now, error: { code: "EXPIRED", type: TYPE, message } },
    };
  }
  const interrupted = next(record.state, "interrupted");
  if (!interrupted) return undefined;
  const message = `It was sent, and its Editor (${record.editor}) was forgotten before it reported the outcome.`;
  const error = { code: "OUTCOME_UNKNOWN", type: TYPE, message };
  return {
    record: { ...record, state: interrupted, endedAt: now, error, evidence: lastSignsOf(known, record) },
  };
}

/**
 * Store incarnation (▲13): an older copy of the store shows it as waiting; what the copy knows of the Editor proves
 * nothing either.
 */
function mayHaveRun(record: OperationRecord, now: number): Change | undefined {
  const state = nextAfter(record.state, ["claimed", "interrupted"]);
  if (!state) return undefined;
  const who =
    record.pool === undefined
      ? `its Editor (${record.editor})`
      : `an Editor that may have run it for ${record.pool}`;
  const message = `The store has lost data since, so whether it was sent is unknown; ${who} was forgotten.`;
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
    ? `${id} is connected: its running operations would be marked unknown while they go on. Close that Unity Editor first.`
    : `${id} was connected a short while ago, and its worker waits for it. Use --force to forget it anyway.`;
  return new BrokerError("EDITOR_CONNECTED", why);
}
