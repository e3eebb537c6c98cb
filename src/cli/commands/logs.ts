/** `unity-broker logs`: an operation's history and what the Console said while it ran. Delivers no outcome. */
import { setTimeout as delay } from "node:timers/promises";
import type { Answer } from "../../shared/operation/answer.js";
import type { TimelineEntry } from "../../shared/operation/timeline.js";
import { printableJson, printableLine } from "../../shared/printable.js";
import { type Asking, askBroker } from "../client/ask-broker.js";
import { EXIT } from "../client/exit-codes.js";
import { renderAnswer, renderEntry, renderHeading } from "../client/render.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/asking.js";
import { createConsoleLog } from "../run/console-log.js";
import { isOpen } from "../watch/snapshot.js";

/** Between two questions while it runs, ms. */
const AGAIN_MS = 500;

export const logs: Run<typeof declared.logs> = ({ args: { log_id: logId, follow, json } }) =>
  askBroker({ serves: false }, async (asking) => {
    const { client, colours, signal } = asking;
    const console = createConsoleLog();
    const say = (line: string, value: object): Promise<boolean> =>
      asking.print(json ? printableJson(value, 0) : line);
    let toldEntries = 0;
    for (let isFirst = true; ; isFirst = false) {
      // The lines first: those before an end are there when the end is.
      const state = await client.call(
        "get_operation_status",
        { log_id: logId },
        { meta: console.question(), onMeta: console.take },
      );
      const history = await client.call("explain_operation", { log_id: logId });
      if (!Array.isArray(history.timeline)) return refused(asking, history, json);
      const timeline = history.timeline as TimelineEntry[];
      if (isFirst && !json) await asking.print(renderHeading({ ...history, timeline }, colours));
      const isOver = !isOpen(state);
      // What was said while it ran stands before its end.
      const until = isOver && toldEntries < timeline.length ? endOf(timeline) : timeline.length;
      const tell = async (to: number): Promise<void> => {
        for (const entry of timeline.slice(toldEntries, to))
          await say(renderEntry(entry, colours), { ...entry });
        toldEntries = Math.max(toldEntries, to);
      };
      await tell(until);
      for (const line of console.newLines()) await say(printableLine(line), { log: line });
      await tell(timeline.length);
      if (console.hasMore()) continue;
      if (!follow || isOver || signal.aborted) return isOver || !follow ? EXIT.ok : EXIT.goesOn;
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  });

const ENDS = ["completed", "failed", "cancelled", "interrupted", "expired"];

/** Where its end is in the history. */
function endOf(timeline: readonly TimelineEntry[]): number {
  const at = timeline.findIndex(({ event }) => ENDS.includes(event));
  return at < 0 ? timeline.length : at;
}

async function refused({ print, colours, self }: Asking, answer: Answer, json: boolean): Promise<number> {
  await print(json ? printableJson(answer) : renderAnswer(answer, colours, self));
  return answer.status === "not_found" ? EXIT.notFound : EXIT.refused;
}
