/**
 * The forms of an answer. A model reads the short one: the result, and beside it only what it can act on; what an answer says of every call
 * alike stands once in the server's instructions. Programs that know the broker get the full one, as text and as structured content.
 */
import type { Implementation } from "@modelcontextprotocol/server";
import type { AnswerForm } from "../../../shared/answer-forms.js";
import { partialForm } from "../../../shared/results/partial.js";
import type { ToolAnswer } from "./tool-answer.js";

/** The broker's own command line; other programs ask for it by the setting. */
const READS_ALL = "unity-broker";

/** A form of words, not a right: any client may call itself what it likes. */
export function formFor(client: Implementation | undefined, standard: AnswerForm): AnswerForm {
  return client?.name === READS_ALL ? "full" : standard;
}

/** Said in other words beside it, or known to the caller, whatever became of the operation. */
const NEEDLESS = ["tool", "accepted_at", "execution_class", "client", "error", "faults"];
/** Of an operation that ended well. */
const OF_SUCCESS = [...NEEDLESS, "state"];
/** The log_id says it. */
const OF_ENDED = ["force_new", "cache_id"];

/** A shorter time is that of any call, ms. */
const NOTABLE_MS = 1_000;

/** A smaller result is read whole. */
const NOTABLE_KB = 1;

/** `severalEditors`: an answer says which one it is of. */
export function shortAnswer(answer: ToolAnswer, severalEditors: boolean): ToolAnswer {
  const rows = answer.operations;
  if (Array.isArray(rows)) return { ...answer, operations: rows.map((row) => shortRow(row, severalEditors)) };
  if (Array.isArray(answer.editors)) return { ...answer, editors: answer.editors.map(shortEditor) };
  // The description of a stored result is what was asked for.
  if (answer.size_kb !== undefined && answer.cached === undefined) return answer;
  const isOperation = answer.log_id !== undefined && answer.state !== undefined;
  if (!isOperation) return answer.status === "error" ? without(answer, ["error", "faults"]) : answer;
  const isCompleted = answer.state === "completed" && answer.status === "completed";
  const needless = [...(isCompleted ? OF_SUCCESS : NEEDLESS)];
  // A duplicate's message names it, and an unknown outcome needs it.
  if (answer.force_new === answer.log_id && answer.state !== "interrupted") needless.push(...OF_ENDED);
  else if (answer.cache_id === answer.log_id) needless.push("cache_id");
  if (!severalEditors && answer.pool === undefined) needless.push("editor");
  if (!(Number(answer.execution_ms) >= NOTABLE_MS)) needless.push("execution_ms");
  if (isCompleted && answer.message === "Operation completed.") needless.push("message");
  const { partial_result: partial, ...rest } = without(answer, needless);
  return (partial === undefined ? rest : { ...rest, ...partialForm(partial) }) as ToolAnswer;
}

/** A row of list_operations: the list's reader looks for one of them. */
function shortRow(row: ToolAnswer, severalEditors: boolean): Record<string, unknown> {
  const { message, ...rest } = row;
  const needless = ["status", "execution_class", "client", "force_new", "error", "started_at", "ended_at"];
  if (row.session === "this") needless.push("session");
  if (!(Number(row.size_kb) >= NOTABLE_KB)) needless.push("size_kb");
  const isOver = ["completed", "cancelled"].includes(String(row.state));
  if (!severalEditors && row.pool === undefined) needless.push("editor");
  return without(isOver ? rest : { ...rest, message }, needless);
}

/** Above these the Editor's process is a reason for slow calls. */
const NOTABLE_MEMORY_MB = 8_000;
const NOTABLE_CPU_PERCENT = 400;

function shortEditor(editor: Record<string, unknown>): Record<string, unknown> {
  const needless: string[] = [];
  if (!(Number(editor.memory_mb) >= NOTABLE_MEMORY_MB)) needless.push("memory_mb");
  if (!(Number(editor.cpu_percent) >= NOTABLE_CPU_PERCENT)) needless.push("cpu_percent");
  return without(editor, needless);
}

function without<T extends object>(answer: T, needless: readonly string[]): T {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !needless.includes(name))) as T;
}
