/**
 * Compiles the schemas of the known tools before a call needs them: the first compilation in a process takes longer than a
 * call, each further one about as long. One at a time, between other work.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Log } from "../../shared/log.js";
import type { Notifier } from "../../shared/store/notifier.js";
import type { Tool } from "../../shared/tools/tool.js";
import type { ToolSchema } from "./tool-schema.js";

export function createPreparedSchemas(deps: {
  tools(): Promise<readonly Tool[]>;
  schema: Pick<ToolSchema, "prepare">;
  notifier: Pick<Notifier, "on">;
  log: Log;
}): { close(): Promise<void> } {
  let isClosed = false;
  let isDue = false;
  let round: Promise<void> | undefined;

  const prepareAll = async (): Promise<void> => {
    for (const tool of await deps.tools()) {
      await nextTurn();
      if (isClosed) return;
      await deps.schema.prepare(tool);
    }
  };

  const whileDue = async (): Promise<void> => {
    while (isDue && !isClosed) {
      isDue = false;
      await prepareAll().catch((error: Error) =>
        deps.log.debug({ error: error.message }, "schemas are compiled when they are used"),
      );
    }
    round = undefined;
  };

  const prepare = (): void => {
    isDue = true;
    round ??= whileDue();
  };

  const stop = deps.notifier.on("editors", prepare, prepare);
  prepare();
  return {
    async close() {
      isClosed = true;
      stop();
      await round;
    },
  };
}
