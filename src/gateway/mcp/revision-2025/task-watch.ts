/** Tells a session when a task that it was given ends, and how it goes on if the call asked for progress. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Log } from "../../../shared/log.js";
import { isFinal } from "../../../shared/operation/operation.js";
import type { Broker } from "../../broker.js";
import type { ShownProgress } from "../progress-notifier.js";
import { taskOf } from "../tasks/task.js";
import { asMcpTask } from "./task-call.js";

export interface TaskWatch {
  /** Until the task ends, or the session. `progress` is closed then. */
  follow(logId: string, progress: ShownProgress | undefined): void;
}

/** Most tasks of a session that are followed; of further ones it is not told. */
const MOST_FOLLOWED = 100;

/** No operation is open for longer. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/** `ended`: aborted when the session has ended. */
export function createTaskWatch(
  server: Server,
  deps: { broker: Pick<Broker, "wait" | "retentionMs">; log: Log },
  { principal, ended }: { principal: string; ended: AbortSignal },
): TaskWatch {
  const { broker, log } = deps;
  const followed = new Set<string>();

  const untilEnd = async (logId: string, progress: ShownProgress | undefined): Promise<void> => {
    const wait = { ms: LONGEST_MS, signal: ended, onChange: progress?.update };
    const view = await broker.wait(principal, logId, wait);
    progress?.close();
    if (ended.aborted || typeof view !== "object" || !isFinal(view.record.state)) return;
    const params = asMcpTask(taskOf(view, await broker.retentionMs()));
    await server.notification({ method: "notifications/tasks/status", params });
  };

  return {
    follow(logId, progress) {
      if (followed.has(logId) || followed.size >= MOST_FOLLOWED || ended.aborted) return progress?.close();
      followed.add(logId);
      untilEnd(logId, progress)
        .catch((error: Error) =>
          log.debug({ log_id: logId, error: error.message }, "the end of a task was not told"),
        )
        .finally(() => {
          followed.delete(logId);
          progress?.close();
        });
    },
  };
}
