/** The wait of `unity-broker editors drain`: until nothing runs any more in an Editor that is paused. */
import { type PauseDeps, pauseEditor, runningIn } from "../../../gateway/editors/pause-editor.js";
import { BrokerError } from "../../../shared/errors.js";
import type { OperationRecord } from "../../../shared/operation/operation.js";
import { isStoreAway } from "../../../shared/store/connect.js";
import type { Store } from "../../../shared/store/store.js";

/** In case that a message about an operation was lost, ms. */
const LOOK_AGAIN_MS = 5_000;

/** How long Redis may be away without a break, ms. */
const STORE_AWAY_MS = 300_000;

/**
 * Says what runs, and whether the Editor is connected, whenever that has changed. A store that is away is waited for, 5 minutes at
 * most: then it rejects with the last error. If the store has lost data meanwhile the Editor is paused again, and that nothing runs
 * there is believed only once it is connected.
 */
export async function untilNothingRuns(
  deps: PauseDeps & Pick<Store, "notifier">,
  editorId: string,
  say: (sentence: string) => void,
): Promise<void> {
  let incarnation = await deps.operations.incarnation();
  let hasLost = false;
  let awaySince: number | undefined;
  let said = "";

  /** Whether nothing runs. */
  const look = async (): Promise<boolean> => {
    const [running, known] = await Promise.all([runningIn(deps, editorId), deps.knownEditors.read()]);
    // After what was read: it may be of a store that has lost it.
    const now = await deps.operations.incarnation();
    if (now !== incarnation) {
      hasLost = true;
      await pauseEditor(deps, editorId);
      incarnation = now;
      return false;
    }
    awaySince = undefined;
    const isThere = known.candidates.some(({ id, connected }) => id === editorId && connected);
    if (running.length === 0 && (isThere || !hasLost)) return true;
    const line = running.length === 0 ? lost(editorId) : sentence(editorId, running, isThere);
    if (line !== said) say(line);
    said = line;
    return false;
  };

  /** Throws what does not pass. BrokerError: a store that has lost data does not know the Editor before its worker reports it. */
  const failed = (error: unknown): false => {
    const passes = isStoreAway(error) || error instanceof BrokerError;
    const isFirst = awaySince === undefined;
    awaySince ??= performance.now();
    if (!passes || performance.now() - awaySince >= STORE_AWAY_MS) throw error;
    if (isFirst)
      say(
        `No answer from Redis (${(error as Error).message}). What runs goes on; this waits until it answers.`,
      );
    return false;
  };

  let hasChanged = false;
  let wake = (): void => undefined;
  const changed = (): void => {
    hasChanged = true;
    wake();
  };
  const stop = deps.notifier.on("ended", changed, changed);
  try {
    for (;;) {
      hasChanged = false;
      if (await look().catch(failed)) return;
      if (!hasChanged)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_AGAIN_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
    }
  } finally {
    stop();
  }
}

function sentence(id: string, running: readonly OperationRecord[], isThere: boolean): string {
  const those = running.map(({ tool, logId }) => `${tool} (${logId})`).join(", ");
  const wait = "Ctrl-C ends this wait, not the pause.";
  if (isThere) return `${id} is paused; it still runs ${those}. ${wait}`;
  return `${id} is paused, and not connected; it may have run ${those}, and says so when it is back. If it will not come back: unity-broker editors forget ${id}\n${wait}`;
}

function lost(id: string): string {
  return `${id} is paused. Redis has lost data: what runs there is known when it is connected again. Ctrl-C ends this wait, not the pause.`;
}
