/**
 * What a `run` command means. Without a key the broker decides whether its call runs again. A key names one operation for good:
 * its outcome answers until a command with this key has read it, so that a runner which died is started again, and gets it. After
 * that the same command wants another run, which is named by what it supersedes (`force_new`): two commands that want it at once
 * get one operation.
 */
import type { Answer } from "../../shared/operation/answer.js";

export interface Submitted {
  answer: Answer;
  /** The operation whose outcome was read before, if this call runs again. */
  supersedes?: string | undefined;
}

/** `send` submits the call, which supersedes the given operation. */
export async function submitRun(
  send: (forceNew: string | undefined) => Promise<Answer>,
  { forceNew, once }: { forceNew: string | undefined; once: boolean },
): Promise<Submitted> {
  const first = await send(forceNew);
  if (forceNew !== undefined || once || !isDone(first)) return { answer: first };
  const supersedes = first.log_id;
  // Once, and no further: an outcome found now is that of another command's retry.
  return { answer: await send(supersedes), supersedes };
}

/** Its outcome is known, and was read. An unknown outcome stays unknown. */
function isDone({ deduplicated, delivery_confirmed, state }: Answer): boolean {
  if (!deduplicated || !delivery_confirmed) return false;
  return state === "completed" || state === "failed" || state === "cancelled";
}
