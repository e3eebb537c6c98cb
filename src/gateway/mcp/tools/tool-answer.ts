/** An answer as an MCP tool result: its text and structured forms, within the size of one message. */
import type { CallToolResult, ContentBlock, Implementation, RequestId } from "@modelcontextprotocol/server";
import type { AnswerForm, AnswerSettings } from "../../../shared/answer-forms.js";
import { BrokerError, ERRORS, type ErrorCode } from "../../../shared/errors.js";
import type { Answer } from "../../../shared/operation/answer.js";
import { shortened, wellFormedJson } from "../../../shared/printable.js";
import { cachedForm, partialForm } from "../../../shared/results/preview.js";
import { storeFault } from "../../../shared/store/connect.js";
import type { Log } from "../../../shared/telemetry.js";
import type { WaitLimits } from "../../../shared/wait-time.js";
import { binaryOf, handedOn, type Results } from "../../results/results.js";
import { ProtocolError } from "../protocol-error.js";

/** The answer of one of this gateway's tools: an operation's answer, or a list with its own message. */
export type ToolAnswer = Answer | { status: "completed"; message: string; [field: string]: unknown };

/** A larger answer is sent only as text, not again as structured content. */
const STRUCTURED_LIMIT = 256_000;

/** Most bytes of one message: the common client gives up above 10 MiB. */
const MESSAGE_LIMIT = 8 * 1024 * 1024;

/** Room for the message around the text: protocol fields and rounding. */
const ENVELOPE = 1024;

/** In the short form as text only; in the full one also as structured content, though never beside pictures. */
export function toolResult(
  answered: ToolAnswer,
  requestId: RequestId | null,
  form: AnswerForm = "full",
): CallToolResult {
  const { shown, blocks } = handedOn(answered.result, String(answered.log_id));
  const answer = shown === answered.result ? answered : { ...answered, result: shown };
  const text = textOf(answer);
  if (text === undefined || !fits(text, requestId, blocks))
    return toolResult(smaller(answer), requestId, form);
  const isStructured = form === "full" && blocks.length === 0 && Buffer.byteLength(text) <= STRUCTURED_LIMIT;
  return {
    content: [{ type: "text", text }, ...blocks],
    // Partial structured content would be worse than none: clients that read it read nothing else.
    ...(isStructured ? { structuredContent: answer } : {}),
    ...(isError(answer) ? { isError: true } : {}),
  };
}

/** What an operation became is no error of a call that asked for its history, or for a part of what it left. */
function isError({ status, timeline, partial }: ToolAnswer): boolean {
  if (timeline !== undefined || partial !== undefined) return false;
  return status === "error" || status === "not_found";
}

/** A refusal as an answer; throws a ProtocolError if the protocol requires one. */
export function refusedAnswer(error: unknown, log: Log, logId: string | undefined): ToolAnswer {
  const { code, message, details } = refusal(error, log, logId);
  if (code === "UNKNOWN_TOOL")
    throw new ProtocolError(ERRORS[code].rpc, message, { ...details, error_code: code });
  return refusalAnswer({ code, message, details }, logId === undefined ? {} : { log_id: logId });
}

/** What was thrown, as a refusal; what no table knows is logged, and INTERNAL. `logId`: the operation that was accepted before. */
export function refusal(error: unknown, log: Log, logId?: string): BrokerError {
  const known = storeFault(error);
  if (!known) log.error({ error, log_id: logId }, "a tool call failed in the broker");
  return known ?? new BrokerError("INTERNAL", "");
}

/** A refusal in the form of an answer, with additional details. */
export function refusalAnswer(
  { code, message, details }: Pick<BrokerError, "code" | "message" | "details">,
  more: Record<string, unknown> = {},
): ToolAnswer {
  const { next } = ERRORS[code];
  const happened = message.endsWith(next) ? message.slice(0, -next.length).trim() : message;
  return { status: "error", ...more, error: happened || message, error_code: code, message, ...details };
}

/** A refusal of a request that a tool's result does not answer. */
export function refusalError(error: unknown, log: Log): ProtocolError {
  const known = storeFault(error);
  if (!known) log.error({ error }, "a request failed in the broker");
  const code: ErrorCode = known?.code ?? "INTERNAL";
  return new ProtocolError(ERRORS[code].rpc, known?.message ?? ERRORS[code].next, {
    ...known?.details,
    error_code: code,
  });
}

/** Undefined if a result nests too deep to be serialised. */
function textOf(answer: ToolAnswer): string | undefined {
  try {
    return wellFormedJson(answer);
  } catch {
    return undefined;
  }
}

/** The text is a string inside the message, which escapes every quote in it again. */
function fits(text: string, requestId: RequestId | null, blocks: readonly ContentBlock[]): boolean {
  if (text.length > MESSAGE_LIMIT) return false;
  const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  if (text.length < STRUCTURED_LIMIT / 4 && blocks.length === 0) return true;
  return size(text) + size(blocks) + size(requestId) + ENVELOPE <= MESSAGE_LIMIT;
}

/** The same answer without the part that makes it too large; the message says so. */
function smaller(answer: ToolAnswer): ToolAnswer {
  const { result, partial_result: partial, data, ...rest } = answer;
  if (data !== undefined) {
    const error = "The part is too large for one message.";
    const message = `${error} ${ERRORS.FETCH_FAILED.next}`;
    return { ...rest, status: "error", error, error_code: "FETCH_FAILED", message } as ToolAnswer;
  }
  if (result === undefined && partial === undefined) {
    return {
      status: "error",
      error_code: "INTERNAL",
      error: "The answer is too large.",
      message: ERRORS.INTERNAL.next,
    };
  }
  if (result === undefined) {
    return {
      ...rest,
      message: `${rest.message} The partial result is too large for one message.`,
    } as ToolAnswer;
  }
  const error = "The result is too large for one message.";
  const { next } = ERRORS.RESULT_TOO_LARGE;
  return {
    ...rest,
    status: "error",
    error,
    error_code: "RESULT_TOO_LARGE",
    message: `${error} ${next}`,
  } as ToolAnswer;
}

// The forms of an answer. A model reads the short one: the result, and beside it only what it can act on; what an answer says of every call
// alike stands once in the server's instructions. Programs that know the broker get the full one, as text and as structured content.

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

// An answer within what its client takes, measured as it is sent: a larger result becomes a preview to be read in parts, a longer list is
// cut and says so, and a part that is too large is refused with what to ask for instead. Nothing is left for the client to cut.

export interface Fitting {
  /** The answer as it is sent. */
  shown: (answer: ToolAnswer) => CallToolResult;
  /** Its `_meta`. */
  attached: Readonly<Record<string, unknown>>;
  limits: Pick<ClientLimits, "answerBytes">;
  results: Pick<Results, "preview">;
}

/** What is left of a text that is too long. */
const TEXT = 500;

export async function fittedResult(answer: ToolAnswer, fitting: Fitting): Promise<CallToolResult> {
  const { shown, attached, limits } = fitting;
  const meta = Object.keys(attached).length === 0 ? {} : { _meta: { ...attached } };
  const sent = (smallerAnswer: ToolAnswer): CallToolResult => ({ ...shown(smallerAnswer), ...meta });
  const fits = (result: CallToolResult): boolean => sizeOf(result) <= limits.answerBytes;
  const whole = sent(answer);
  if (fits(whole)) return whole;
  const { structuredContent: _, ...asText } = whole;
  if (fits(asText)) return asText;
  const small = await smallerAnswer(answer, (part) => fits(sent(part)), fitting);
  return fits(sent(small)) ? sent(small) : shown(small);
}

/** UTF-8 bytes of the JSON. Pictures count as nothing: no client reads them as text, and each has another limit for them. */
function sizeOf(result: CallToolResult): number {
  const content = result.content.map(withoutBinary);
  return Buffer.byteLength(JSON.stringify({ ...result, content }));
}

function withoutBinary(block: ContentBlock): unknown {
  return binaryOf(block) === undefined ? block : { type: block.type };
}

/** The first of these that fits, else the last: a preview of the result, shorter lists, shorter texts. */
async function smallerAnswer(
  answer: ToolAnswer,
  fits: (answer: ToolAnswer) => boolean,
  { results, limits }: Fitting,
): Promise<ToolAnswer> {
  if (answer.data !== undefined) return tooLarge(answer, limits);
  const previewed = await withPreviews(answer, results);
  if (fits(previewed)) return previewed;
  const cut = withShorterLists(previewed, fits);
  if (fits(cut)) return cut;
  return withShorterTexts(cut);
}

/** Of the answer, and of the one that a refused `force_new` shows. */
async function withPreviews(answer: ToolAnswer, results: Pick<Results, "preview">): Promise<ToolAnswer> {
  const { result, newest, ...rest } = answer as ToolAnswer & { newest?: ToolAnswer };
  const inner = newest === undefined ? {} : { newest: await withPreviews(newest, results) };
  if (result === undefined || typeof rest.log_id !== "string") return { ...answer, ...inner };
  const bytes = Buffer.byteLength(JSON.stringify(result));
  const kept = cachedForm(rest.log_id, bytes, await results.preview(rest.log_id));
  const message = `${rest.message} Its result is large and kept: usage_hint says how to read it.`;
  return { ...rest, ...inner, ...kept, message } as ToolAnswer;
}

/** Each of its lists as short as needed, the longest first; the message says what is left out. */
function withShorterLists(answer: ToolAnswer, fits: (answer: ToolAnswer) => boolean): ToolAnswer {
  const lists = Object.entries(answer)
    .flatMap(([name, value]) => (Array.isArray(value) ? [{ name, items: value as unknown[] }] : []))
    .toSorted((a, b) => JSON.stringify(b.items).length - JSON.stringify(a.items).length);
  let cut = answer;
  for (const { name, items } of lists) {
    const before = cut;
    const shorter = (count: number): ToolAnswer => withFirst(before, name, items, count);
    // The most items with which it fits.
    let [most, tooMany] = [0, items.length];
    while (tooMany - most > 1) {
      const middle = Math.floor((most + tooMany) / 2);
      if (fits(shorter(middle))) most = middle;
      else tooMany = middle;
    }
    cut = shorter(most);
    if (fits(cut)) return cut;
  }
  return cut;
}

function withFirst(answer: ToolAnswer, name: string, items: unknown[], count: number): ToolAnswer {
  const last = items[count - 1] as { log_id?: string } | undefined;
  const isPaged = name === "operations" && last?.log_id !== undefined;
  const how = isPaged ? `: pass before: "${last.log_id}" for them` : "";
  const message = `${answer.message} Of ${name}, ${items.length - count} are left out${how}.`;
  return {
    ...answer,
    [name]: items.slice(0, count),
    ...(isPaged ? { next_before: last.log_id } : {}),
    message,
  } as ToolAnswer;
}

function tooLarge(
  { data, ...rest }: ToolAnswer,
  { answerBytes }: Pick<ClientLimits, "answerBytes">,
): ToolAnswer {
  const bytes = Buffer.byteLength(JSON.stringify(data));
  const error = new BrokerError(
    "FETCH_FAILED",
    `The part has ${bytes} bytes, and your client takes answers of ${answerBytes}. Ask for less: a page, some fields, or a jq filter.`,
  );
  const named = typeof rest.cache_id === "string" ? { cache_id: rest.cache_id } : {};
  return refusalAnswer(error, named);
}

/** Without what is not needed to go on. */
function withShorterTexts({ status, log_id: logId, message, ...rest }: ToolAnswer): ToolAnswer {
  const kept = ["state", "error_code", "error_type", "cached", "cache_id", "force_new", "deduplicated"];
  return {
    status,
    ...(logId === undefined ? {} : { log_id: logId }),
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => kept.includes(name))),
    message: shortened(message || ERRORS.INTERNAL.next, TEXT),
  } as ToolAnswer;
}

// What MCP clients take: how large an answer may be, and how long they wait for it. What is larger, a client cuts, refuses or puts into a
// file that its model has to find. The sources are in docs/reference/answer-sizes.md; a test compares both tables.

export interface KnownClient {
  /** How the name in its `initialize` begins, in lower case. */
  name: string;
  /** As it counts: characters or bytes; bytes are never fewer. */
  answerBytes: number;
  /** When it gives up a call, s. */
  givesUpSeconds: number;
}

export const KNOWN_CLIENTS: readonly KnownClient[] = [
  { name: "claude-code", answerBytes: 50_000, givesUpSeconds: 300 },
  { name: "claude-ai", answerBytes: 50_000, givesUpSeconds: 60 },
  { name: "cursor", answerBytes: 40_000, givesUpSeconds: 60 },
  { name: "visual studio code", answerBytes: 8_192, givesUpSeconds: 60 },
  { name: "codex", answerBytes: 10_000, givesUpSeconds: 60 },
  { name: "gemini-cli", answerBytes: 40_000, givesUpSeconds: 60 },
  { name: "cline", answerBytes: 40_000, givesUpSeconds: 60 },
  { name: "windsurf", answerBytes: 40_000, givesUpSeconds: 60 },
];

/** Of a client that nothing is known of. */
export const ANY_CLIENT = { answerBytes: 50_000, givesUpSeconds: 60 } as const;

/** An answer is on its way this long before its client gives up. */
const AHEAD_SECONDS = 10;

export interface ClientLimits {
  /** Infinite for a program that reads all. */
  answerBytes: number;
  waits: WaitLimits;
}

/** A client's name is a form of words, not a right: one that claims another's name gets answers of that one's size. */
export function limitsFor(client: Implementation | undefined, settings: AnswerSettings): ClientLimits {
  const name = client?.name.toLowerCase() ?? "";
  const known = KNOWN_CLIENTS.find((each) => name.startsWith(each.name));
  const isProgram = formFor(client, "short") === "full";
  const readsAll = isProgram || settings.form === "full";
  const answerBytes = isProgram ? undefined : (settings.limitBytes ?? known?.answerBytes);
  const { givesUpSeconds } = known ?? ANY_CLIENT;
  const { standardSeconds, mostSeconds } = settings.waits;
  return {
    answerBytes: answerBytes ?? (readsAll ? Number.POSITIVE_INFINITY : ANY_CLIENT.answerBytes),
    waits: { standardSeconds, mostSeconds: Math.min(mostSeconds, givesUpSeconds - AHEAD_SECONDS) },
  };
}
