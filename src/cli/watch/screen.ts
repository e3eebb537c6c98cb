/** What `watch` shows, as text: a whole screen for a terminal, a line for each change elsewhere. */
import type { Answer } from "../../shared/operation/answer.js";
import { printableLine, printableValues } from "../../shared/printable.js";
import { age, type Colours, renderEditors, stateIn } from "../client/render.js";
import { cut } from "../columns.js";
import { table } from "../table.js";
import { type Change, isOpen, type Snapshot } from "./snapshot.js";

export interface Screen {
  /** ms since the epoch. */
  now: number;
  rows: number;
  columns?: number;
  /** How long the broker has not answered, ms. */
  silentMs?: number;
}

/** A terminal with fewer columns is shown less. */
const NARROW = 80;
/** The broker of a machine under load is given so long, ms. */
const SILENT_MS = 3_000;

/** At most `rows` lines of `columns`; what has ended gives way first. */
export function renderWatch(
  { editors, operations, trouble }: Snapshot,
  { now, rows, columns = 80, silentMs = 0 }: Screen,
  colours: Colours,
): string {
  const silence = silentMs < SILENT_MS ? undefined : `No answer for ${age(silentMs)}.`;
  const missing = trouble === undefined ? silence : printableLine(`No answer: ${trouble}`);
  const above = [
    colours.bold(titleOf({ editors, operations }, now, columns)),
    ...(missing === undefined ? [] : [colours.red(missing)]),
    "",
  ];
  const shown = inOrder(operations);
  const seen = renderEditors(editors, now, colours, columns).split("\n");
  const below = shown.length === 0 ? ["No operations yet."] : operationLines(shown, now, columns, colours);
  const room = rows - above.length - 1;
  const forEditors = Math.max(Math.floor(room / 2), room - below.length);
  const first = fitting(seen, forEditors, colours);
  const second = fitting(below, room - first.length, colours);
  return [...above, ...first, "", ...second].map((line) => cut(line, columns)).join("\n");
}

function titleOf({ editors, operations }: Snapshot, now: number, columns: number): string {
  const open = operations.filter(isOpen);
  const running = open.filter(({ state }) => state === "running").length;
  const isNarrow = columns < NARROW;
  return [
    ...(isNarrow ? [] : [`${new Date(now).toISOString().slice(11, 19)} UTC`]),
    `${editors.filter(({ connected }) => connected).length} of ${editors.length} Editors connected`,
    `yours: ${running} running, ${open.length - running} waiting`,
    "q ends it",
  ].join("  ");
}

/** What runs, what waits (the next one first), and what has ended, the newest first. */
function inOrder(operations: readonly Answer[]): Answer[] {
  const isRunning = ({ state }: Answer): boolean => state === "running";
  const open = operations.filter(isOpen).reverse();
  return [
    ...open.filter(isRunning),
    ...open.filter((operation) => !isRunning(operation)),
    ...operations.filter((operation) => !isOpen(operation)),
  ];
}

function fitting(lines: readonly string[], most: number, colours: Colours): string[] {
  if (lines.length <= most) return [...lines];
  const shown = Math.max(0, most - 1);
  return [...lines.slice(0, shown), colours.dim(`… ${lines.length - shown} more`)].slice(
    0,
    Math.max(0, most),
  );
}

/** From here on whole log_ids are shown, which other commands take. */
const WIDE = 120;
/** Names are cut to so many columns, and are given what a terminal has beyond `ROOMY`. */
const [TOOL_WIDTH, EDITOR_WIDTH] = [18, 16];
const ROOMY = 140;

function operationLines(
  operations: readonly Answer[],
  now: number,
  columns: number,
  colours: Colours,
): string[] {
  const spare = Math.max(0, Math.floor((columns - ROOMY) / 2));
  const inRoom = (text: string): string[] => (columns < NARROW ? [] : [text]);
  const rows = printableValues(operations).map((operation) => {
    const { log_id = "", tool = "", editor = "", state = "", accepted_at = "" } = operation;
    return [
      columns < WIDE ? `${log_id.slice(0, 8)}…` : log_id,
      cut(tool, TOOL_WIDTH + spare),
      ...inRoom(cut(editor, EDITOR_WIDTH + spare)),
      stateIn(colours, state),
      age(now - Date.parse(accepted_at)),
      progressOf(operation, columns),
    ];
  });
  return table(["LOG_ID", "TOOL", ...inRoom("EDITOR"), "STATE", "AGE", ""], rows).split("\n");
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
