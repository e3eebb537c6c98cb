/** What `watch` shows, as text: a whole screen for a terminal, a line for each change elsewhere. */
import type { Answer } from "../../shared/operation/answer.js";
import { printableLine, printableValues } from "../../shared/printable.js";
import { age, type Colours, cut, renderEditors, stateIn } from "../client/render.js";
import { table } from "../table.js";
import { type Change, isOpen, type Snapshot } from "./snapshot.js";

/** At most `rows` lines; what has ended gives way first. `now`: ms since the epoch. */
export function renderWatch(
  { editors, operations, trouble }: Snapshot,
  { now, rows, columns = 80 }: { now: number; rows: number; columns?: number },
  colours: Colours,
): string {
  const open = operations.filter(isOpen);
  const running = open.filter(({ state }) => state === "running").length;
  const title = [
    `${new Date(now).toISOString().slice(11, 19)} UTC`,
    `${editors.filter(({ connected }) => connected).length} of ${editors.length} Editors connected`,
    `yours: ${running} running, ${open.length - running} waiting`,
    "q ends it",
  ].join("  ");
  const above = [
    colours.bold(title),
    ...(trouble === undefined ? [] : [colours.red(cut(printableLine(`No answer: ${trouble}`), columns))]),
    "",
    ...renderEditors(editors, now, colours).split("\n"),
    "",
  ];
  const shown = [...open, ...operations.filter((operation) => !isOpen(operation))];
  const below = shown.length === 0 ? ["No operations yet."] : operationLines(shown, now, columns, colours);
  const lines = [...above, ...below];
  if (lines.length <= rows) return lines.join("\n");
  return [...lines.slice(0, rows - 1), colours.dim(`… ${lines.length - rows + 1} more`)].join("\n");
}

/** What stands before the progress, in columns. */
const BESIDE_PROGRESS = 60;

function operationLines(
  operations: readonly Answer[],
  now: number,
  columns: number,
  colours: Colours,
): string[] {
  const rows = printableValues(operations).map((operation) => {
    const { log_id = "", tool = "", editor = "", state = "", accepted_at = "" } = operation;
    return [
      log_id.slice(0, 8),
      cut(tool, 18),
      cut(editor, 16),
      stateIn(colours, state),
      age(now - Date.parse(accepted_at)),
      cut(progressOf(operation, columns), Math.max(20, columns - BESIDE_PROGRESS)),
    ];
  });
  return table(["LOG_ID", "TOOL", "EDITOR", "STATE", "AGE", ""], rows).split("\n");
}

const BAR_WIDTH = 10;

function progressOf(operation: Answer, columns: number): string {
  const { progress, queue_position: ahead, overdue, diagnosis } = operation;
  const late = overdue ? "overdue" : "";
  if (isOpen(operation) && diagnosis) return printableLine(diagnosis.message);
  if (!progress) return [ahead ? `${ahead} ahead` : "", late].filter(Boolean).join(", ");
  const { progress: done, total, message = "" } = progress;
  const share = total ? Math.min(1, Math.max(0, done / total)) : undefined;
  const filled = Math.round((share ?? 0) * BAR_WIDTH);
  const bar =
    share === undefined || columns < 80 + BAR_WIDTH
      ? ""
      : `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}`;
  const percent = share === undefined ? "" : `${Math.floor(100 * share)} %`;
  return [bar, percent, printableLine(message), late].filter(Boolean).join(" ");
}

/** `now`: ms since the epoch. */
export function changeLine({ id, to, about }: Change, now: number, colours: Colours): string {
  const at = colours.dim(new Date(now).toISOString().slice(11, 19));
  const named = about === undefined ? "" : `${" ".repeat(Math.max(0, LONGEST_STATE - to.length))}  ${about}`;
  return `${at}  ${printableLine(id)}  ${stateIn(colours, printableLine(to))}${printableLine(named)}`;
}

const LONGEST_STATE = "completed".length;
