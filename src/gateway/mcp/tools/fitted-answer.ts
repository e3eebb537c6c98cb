/**
 * An answer within what its client takes, measured as it is sent: a larger result becomes a preview to be read in parts, a longer list is
 * cut and says so, and a part that is too large is refused with what to ask for instead. Nothing is left for the client to cut.
 */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { BrokerError, ERRORS } from "../../../shared/errors.js";
import { cachedForm } from "../../../shared/results/cached.js";
import { shortened } from "../../../shared/shortened-text.js";
import { binaryOf } from "../../results/content.js";
import type { Results } from "../../results/results.js";
import type { ClientLimits } from "./client-limits.js";
import { refusalAnswer, type ToolAnswer } from "./tool-answer.js";

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
  const sent = (smaller: ToolAnswer): CallToolResult => ({ ...shown(smaller), ...meta });
  const fits = (result: CallToolResult): boolean => sizeOf(result) <= limits.answerBytes;
  const whole = sent(answer);
  if (fits(whole)) return whole;
  const { structuredContent: _, ...asText } = whole;
  if (fits(asText)) return asText;
  const small = await smaller(answer, (part) => fits(sent(part)), fitting);
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
async function smaller(
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
