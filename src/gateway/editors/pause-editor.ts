/**
 * A person pauses an Editor: it starts nothing new until it is resumed. What it runs goes on, calls that name it wait, and what it
 * had taken from a pool and not begun is its pool's again. The pause is that of its BullMQ queues, so that a dashboard shows it.
 */
import type { Candidate } from "../../shared/editors/target.js";
import { BrokerError } from "../../shared/errors.js";
import { isWaiting, type OperationRecord } from "../../shared/operation/operation.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import type { KnownEditorsReader } from "./known-editors.js";
import { createPoolKeeper } from "./pool-keeper.js";
import { namedAmong } from "./target-error.js";

export type PauseDeps = Pick<Store, "operations" | "pools" | "queues" | "editors"> & {
  knownEditors: Pick<KnownEditorsReader, "read" | "makeKnown">;
  log: Log;
};

/** `named`: an id, its unique beginning, or a project's name. Throws EDITOR_UNKNOWN, EDITOR_AMBIGUOUS, or NO_EDITOR. */
export async function pauseEditor(deps: PauseDeps, named: string): Promise<Candidate> {
  const { editor, known } = await find(deps, named);
  await deps.queues.setPaused(editor.id, true);
  const pools = createPoolKeeper({ store: deps, log: deps.log });
  // Of those that come to be taken in this moment the janitor does the same.
  for (const record of await deps.operations.openOf(editor.id)) await pools.giveBack(record, false, known);
  await deps.pools.wake();
  return editor;
}

/** As `pauseEditor`. An Editor that was not paused stays as it is. */
export async function resumeEditor(deps: PauseDeps, named: string): Promise<Candidate> {
  const { editor } = await find(deps, named);
  await deps.queues.setPaused(editor.id, false);
  await deps.pools.wake();
  return editor;
}

/**
 * What a paused Editor may be running: its operations that were sent, or are about to be, and have not ended. While it is away
 * nothing is about to be: its owner gives back what it has taken when the Editor returns.
 */
export async function runningIn(
  { operations, queues, editors }: Pick<PauseDeps, "operations" | "queues" | "editors">,
  editorId: string,
): Promise<OperationRecord[]> {
  // Before the records: what was being claimed when it went away is shown as sent.
  const isHere = (await editors.find(editorId))?.connected === true;
  const open = await operations.openOf(editorId);
  const runs = await Promise.all(
    open.map(async (record) => !isWaiting(record.state) || (isHere && queues.isTaken(record))),
  );
  return open.filter((_, at) => runs[at]);
}

async function find({ knownEditors }: PauseDeps, named: string) {
  const known = await knownEditors.read();
  const editor = namedAmong(named, known.candidates);
  if (editor instanceof BrokerError) throw editor;
  // So that the janitor forgets it, with what its queues keep, if it does not come back.
  if (editor.isNoted) await knownEditors.makeKnown(editor.id);
  return { editor, known };
}
