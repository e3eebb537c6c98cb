/**
 * First contact: an Editor is coming if it runs on this machine and is not in the store yet, or is there without its tools.
 * A question that only this Editor can answer waits a moment, so that a client that starts with its broker, or calls
 * right after the store was emptied, finds the Editor's tools.
 */
import { setMaxListeners } from "node:events";
import type { DiagnosisCode } from "../../shared/editors/diagnosis.js";
import type { Notifier } from "../../shared/store/connect.js";
import type { Editors } from "../../shared/store/editors/editors.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import { stands } from "./target-error.js";

export interface FirstContact {
  /**
   * Waits until each Editor that is coming is known with its tools, it has refused, or the time is over.
   * True if it waited for any.
   */
  awaited(): Promise<boolean>;
  /** Ends the waits. */
  close(): void;
}

/** The Editor, or whatever answers in its place, has refused: a person has to do something first. */
const REFUSED: ReadonlySet<DiagnosisCode | undefined> = new Set([
  "FOREIGN_BROKER",
  "WRONG_PROJECT",
  "PORT_NOT_PROVEN",
  "PORT_TAKEN",
  "HELLO_REFUSED",
  "LEDGER_UNAVAILABLE",
] as const);

/** `running`: the ids of the Editors that run on this machine, connected or not. */
export function createFirstContact(
  {
    editors,
    operations,
    notifier,
    running,
  }: {
    editors: Pick<Editors, "ids" | "tools" | "diagnoses">;
    operations: Pick<Operations, "now">;
    notifier: Pick<Notifier, "on">;
    running: () => Promise<string[]>;
  },
  { waitMs }: { waitMs: number },
): FirstContact {
  /** Not reached in time: nobody waits for these again until they were reached. */
  const missed = new Set<string>();
  const closing = new AbortController();
  // Each Editor that is waited for adds a listener.
  setMaxListeners(0, closing.signal);

  const isKnown = async (editorId: string): Promise<boolean> =>
    (await editors.ids()).includes(editorId) && (await editors.tools(editorId)).length > 0;

  const hasRefused = async (editorId: string): Promise<boolean> => {
    const [diagnoses, now] = await Promise.all([editors.diagnoses(), operations.now()]);
    return REFUSED.has(stands(diagnoses.get(editorId), now)?.code);
  };

  /** True if it waited. */
  const settle = async (editorId: string): Promise<boolean> => {
    const wasKnown = await isKnown(editorId);
    if (wasKnown) missed.delete(editorId);
    if (wasKnown || missed.has(editorId) || (await hasRefused(editorId))) return false;
    const isSettled = async () => (await isKnown(editorId)) || (await hasRefused(editorId));
    if (!(await untilEditors(notifier, isSettled, waitMs, closing.signal))) missed.add(editorId);
    return true;
  };

  return {
    async awaited() {
      const ids = new Set([...(await running()), ...(await editors.ids())]);
      const waited = await Promise.all([...ids].map(settle));
      return waited.includes(true);
    },
    close: () => closing.abort(),
  };
}

/** True once `holds`, which is asked at each message about an Editor; false after the time, or when the signal is aborted. */
export function untilEditors(
  notifier: Pick<Notifier, "on">,
  holds: () => Promise<boolean>,
  ms: number,
  signal?: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      stop();
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      settle();
    };
    const over = (): void => end(() => resolve(false));
    const look = (): void =>
      void holds().then(
        (isSo) => isSo && end(() => resolve(true)),
        (error) => end(() => reject(error)),
      );
    const timer = setTimeout(over, ms);
    const stop = notifier.on("editors", look, look);
    signal?.addEventListener("abort", over, { once: true });
    if (signal?.aborted) over();
    else look();
  });
}
