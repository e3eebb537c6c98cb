/** Finds out which Editors of this machine have closed: an Editor that is only unreachable keeps its operations. */
import { identify, isLiving } from "../../shared/machine/living-process.js";
import { thisMachine } from "../../shared/machine/this-machine.js";
import { goneOf, interruptAsGone } from "../../shared/operation/gone.js";
import type { EditorProcess, EditorProfile } from "../../shared/store/editors/editors.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import { LOOPBACK } from "./endpoint-folder.js";

export interface LostEditorsOptions {
  /** How often to look, ms. */
  lostEditorsMs: number;
}

export interface LostEditors {
  close(): Promise<void>;
}

/** The process of an Editor that answers at this host; undefined if it is not on this machine. */
export function processOf(pid: number, host: string): EditorProcess | undefined {
  const found = LOOPBACK.has(host) ? identify(pid) : undefined;
  return found && { machine: thisMachine(), ...found };
}

export function createLostEditors(
  deps: { store: Pick<Store, "editors" | "operations" | "queues" | "notifier">; log: Log },
  options: LostEditorsOptions,
): LostEditors {
  const { editors, operations, queues, notifier } = deps.store;
  const log = deps.log;

  /** Operations whose cancellation was requested before it was known that the Editor was gone. */
  const endCancelled = async (editorId: string): Promise<void> => {
    const editor = await editors.find(editorId);
    for (const { logId, cancel } of await operations.openOf(editorId)) {
      if (!cancel) continue;
      const changed = await operations.change(logId, (record, now) => {
        // Its pool has it again.
        if (record.editor !== editorId) return undefined;
        const gone = record.cancel && goneOf(record, editor, false);
        const ended = gone && interruptAsGone(record, gone, editor, now);
        return ended && { record: ended };
      });
      if (changed.kind === "applied") await queues.remove(changed.record);
    }
  };

  const isGone = ({ process }: EditorProfile): boolean =>
    process?.machine === thisMachine() && !isLiving(process);

  const look = async (): Promise<void> => {
    for (const { id, profile } of await editors.availability()) {
      const editor = profile && isGone(profile) ? await editors.find(id) : undefined;
      if (
        !editor ||
        !isGone(editor.profile) ||
        editor.ended?.editorSessionId === editor.profile.editorSessionId
      )
        continue;
      const { editorId, editorSessionId } = editor.profile;
      log.info({ editor: editorId, editor_pid: editor.profile.pid }, "the Editor's process is gone");
      await editors.ended(editorId, editorSessionId, await operations.now());
      await endCancelled(editorId);
    }
  };

  let round: Promise<void> | undefined;
  const start = (): void => {
    round ??= look()
      .catch((error: Error) => log.warn({ error: error.message }, "looking for closed Editors"))
      .finally(() => {
        round = undefined;
      });
  };
  const timer = setInterval(start, options.lostEditorsMs);
  // A caller is waiting for the answer.
  const stop = notifier.on("cancel", start);
  start();

  return {
    async close() {
      stop();
      clearInterval(timer);
      await round;
    },
  };
}
