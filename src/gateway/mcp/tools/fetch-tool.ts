/** fetch_cached_response: reads a large result in parts (docs/guide/large-results.md). */
import { z } from "zod";
import { DocumentError, type DocumentErrorKind } from "../../../documents/document-error.js";
import { BrokerError, type ErrorCode } from "../../../shared/errors.js";
import { type Answer, statusOf } from "../../../shared/operation/answer.js";
import { head, shortened } from "../../../shared/printable.js";
import type { About } from "../../../shared/store/filtered-results.js";
import {
  type Cut,
  documentOf,
  largestPage,
  MOST_BYTES,
  type Results,
  type Source,
} from "../../results/results.js";
import { type BrokerToolCall, define, UUID } from "./broker-tool.js";
import type { ToolAnswer } from "./tool-answer.js";

const PAGE_KB = 8;
const KB = 1024;

/** The request is stored with a kept part and repeated in answers, so it is bounded, as jq programs are (documents/jq.ts). */
const [MOST_FIELDS, MOST_FIELD_NAME, MOST_PATH] = [100, 200, 1_000];

/** For `list`: most entries, and most characters of each one's request. */
const [MOST_LISTED, LISTED_TEXT] = [100, 200];

/** The parameters that name a part, also those of get_operation_result. */
export const PART = {
  page: z.int(),
  page_size_kb: z
    .number()
    .positive()
    .max(MOST_BYTES / KB)
    .default(PAGE_KB)
    .describe("Size of a page."),
  path: z
    .string()
    .max(MOST_PATH)
    .optional()
    .describe("The list to take items from, such as roots[0].children; else the longest."),
  fields: z
    .array(z.string().max(MOST_FIELD_NAME))
    .max(MOST_FIELDS)
    .optional()
    .describe("Only these fields of each item."),
};

const ACTIONS = ["get", "get_page", "filter", "info", "list"] as const;
type Action = (typeof ACTIONS)[number];

const ARGUMENTS = z.object({
  log_id: z.string().optional().describe("Or the cache_id of a filtered result. None: lists those."),
  action: z.enum(ACTIONS).optional().describe("Follows from the rest."),
  page: PART.page.optional().describe("From 1; beyond the last one it is empty."),
  page_size_kb: PART.page_size_kb,
  jq: z.string().optional().describe("A jq program, such as .nodes[].name"),
  fields: PART.fields,
  limit: z.int().min(0).optional(),
  offset: z.int().min(0).optional(),
  path: PART.path,
  cache_filtered_result: z.boolean().default(true).describe("Keep a large output of a filter."),
});
type Arguments = z.output<typeof ARGUMENTS>;

/** As other servers call them, and earlier versions of this one. */
export const ALIASES = { cache_id: "log_id", jq_filter: "jq" } as const;

/** Few need them: docs/guide/large-results.md. */
export const HIDDEN = ["page_size_kb", "cache_filtered_result"];

export const FETCH = define(
  "fetch_cached_response",
  "Reads a large result in parts, by page, jq or fields. Use it after an answer with cached: true; it runs nothing.",
  ARGUMENTS,
  { readOnly: true, aliases: ALIASES, hidden: HIDDEN },
  async (args, call) => {
    const { broker, principal, request } = call;
    const { results } = broker;
    const action = actionOf(args);
    if (action === "list") return listed(call);
    if (args.log_id === undefined)
      throw new BrokerError("INVALID_ARGUMENTS", `fetch_cached_response needs a log_id to ${action}.`);
    const cacheId = args.log_id;
    const source = UUID.test(cacheId) ? await results.find(principal, cacheId) : undefined;
    if (!source) return missing(cacheId);
    // Read (▲7): a caller that names a log_id has read what was delivered to it before.
    if (source.record) await request.names(cacheId);
    // The client's next message need not wait for a filter.
    request.accepted();
    try {
      const answer = await fetched(source, { ...args, action }, call);
      // What it has only reported is not its outcome, and a description tells nothing of it.
      const isOutcome = source.partial === undefined && action !== "info" && !isEmpty(answer);
      if (source.record && isOutcome) request.delivers(source.record);
      return answer;
    } catch (error) {
      if (error instanceof DocumentError) return failed(cacheId, error);
      throw error;
    }
  },
);

/** A part in which there is nothing: behind the last page, or where a filter finds nothing. */
function isEmpty(answer: ToolAnswer): boolean {
  if (!("data" in answer)) return false;
  const { data } = answer;
  return data === null || (Array.isArray(data) && data.length === 0);
}

/** The one that the other arguments mean. Throws INVALID_ARGUMENTS where the named one cannot use them: it would ignore what was asked for. */
function actionOf({ log_id: logId, action, page, ...args }: Arguments): Action {
  const filters = FILTERS.filter((name) => args[name] !== undefined);
  if (filters.length > 0 && (action ?? "filter") !== "filter")
    throw new BrokerError(
      "INVALID_ARGUMENTS",
      `action ${action} takes no ${filters.join(", ")}: leave it out.`,
    );
  if (filters.length > 0 && page !== undefined)
    throw new BrokerError("INVALID_ARGUMENTS", `Give page, or ${filters.join(", ")}: not both.`);
  if (action !== undefined) return action;
  if (filters.length > 0) return "filter";
  return logId === undefined ? "list" : "get_page";
}

const FILTERS = ["jq", "fields", "limit", "offset"] as const;

async function fetched(
  source: Source,
  args: Arguments & { action: Action },
  { broker: { results }, principal, request: { signal }, limits: { answerBytes } }: BrokerToolCall,
): Promise<ToolAnswer> {
  const about = aboutOf(source);
  const { path } = args;
  const options = { keep: args.cache_filtered_result, mostBytes: answerBytes, signal };
  const asked = Math.ceil(args.page_size_kb * KB);
  const pageSizeBytes = Math.min(asked, largestPage(answerBytes));
  switch (args.action) {
    case "get":
      if (source.bytes > answerBytes) throw tooMuch(source.bytes, answerBytes);
      return { ...about, data: await results.whole(source), message: "All of it." };
    case "filter": {
      const { jq, fields, limit, offset } = args;
      if (jq === undefined) {
        const wanted = { path, fields, limit, offset };
        const { cut, summary } = await results.project(principal, source, wanted, options);
        const end = summary.next_offset ?? summary.total_items;
        const message = `${Math.max(0, end - summary.offset)} of ${summary.total_items} item(s).`;
        return cutAnswer(about, cut, { ...summary, message });
      }
      const { cut, outputs } = await results.filter(principal, source, jq, options);
      const isNothing = "data" in cut && outputs === 1 && cut.data === null;
      const there = isNothing ? ` There is nothing at this place. ${await contentsOf(source, results)}` : "";
      const message = `${outputs} output(s) of the filter${outputs === 1 ? "" : ", as an array"}.${there}`;
      return cutAnswer(about, cut, { jq_filter: jq, outputs, message });
    }
    case "info": {
      const [preview, keptForMs, parameters, pages] = await Promise.all([
        results.preview(documentOf(source)),
        results.keptFor(source),
        source.record && results.argumentsOf(source.record),
        // Not every document has a list to page through.
        results.page(source, { page: 1, pageSizeBytes, path }).catch(() => undefined),
      ]);
      const { total_pages, total_items } = pages?.pagination ?? {};
      const message = "The description of what is stored under this cache_id.";
      return {
        ...about,
        ...describe(source),
        ...(parameters === undefined ? {} : { parameters }),
        ...(total_pages === undefined ? {} : { total_pages, total_items, page_size_kb: pageSizeBytes / KB }),
        ...(keptForMs === undefined ? {} : { expires_at: new Date(Date.now() + keptForMs).toISOString() }),
        preview,
        message,
      } as Answer;
    }
    default: {
      const wanted = { page: args.page ?? 1, pageSizeBytes, path };
      const { page, data, pagination } = await results.page(source, wanted);
      const { total_pages: last } = pagination;
      const message =
        page > last ? `There is no page ${page}: the last one is ${last}.` : `Page ${page} of ${last}.`;
      const smaller =
        pageSizeBytes < asked
          ? ` Pages are of at most ${(pageSizeBytes / KB).toFixed(1)} kB for your client.`
          : "";
      return { ...about, page, data, _pagination: pagination, message: `${message}${smaller}` };
    }
  }
}

/** What the answer is of; the status is the operation's, also while it runs. */
function aboutOf({ cacheId, record, partial }: Source): OfSource {
  const status = record === undefined ? "completed" : statusOf(record);
  const soFar = record && partial !== undefined ? { state: record.state, partial: true } : {};
  return { status, cache_id: cacheId, ...soFar };
}

type OfSource = Pick<Answer, "status" | "state"> & { cache_id: string; partial?: boolean };

function cutAnswer(
  { cache_id: source, ...about }: OfSource,
  cut: Cut,
  summary: { message: string; [field: string]: unknown },
): ToolAnswer {
  if ("data" in cut)
    return { ...about, cache_id: source, data: cut.data, source_cache_id: source, ...summary };
  const message = `${summary.message} The output is large as well and was kept: see usage_hint.`;
  return { ...about, ...cut.kept, source_cache_id: source, ...summary, message };
}

const tooMuch = (bytes: number, answerBytes: number): DocumentError =>
  new DocumentError(
    "too_large",
    `It has ${bytes} bytes, and your client takes answers of ${answerBytes}. Read it by page, jq or fields.`,
  );

/** For a caller that looked for something else. */
async function contentsOf(source: Source, results: Results): Promise<string> {
  const { keys = {}, item_fields: fields, list } = (await results.preview(documentOf(source))) ?? {};
  const named = Object.keys(keys).join(", ");
  const inList =
    fields === undefined ? "" : ` Items of ${list ?? "the list"} have ${Object.keys(fields).join(", ")}.`;
  return `${named === "" ? "" : `The result has ${named}.`}${inList}`.trim();
}

function describe({ cacheId, bytes, record, filtered }: Omit<Source, "asker">): Record<string, unknown> {
  return {
    ...sized(cacheId, bytes),
    ...(record === undefined ? {} : { tool: record.tool, log_id: record.logId, state: record.state }),
    ...(filtered === undefined ? {} : madeOf(filtered)),
  };
}

const sized = (cacheId: string, bytes: number) => ({
  cache_id: cacheId,
  size_kb: Math.round(bytes / 102.4) / 10,
});

function madeOf({ source, filter, projection, madeAt }: About): Record<string, unknown> {
  const how = filter === undefined ? { ...projection } : { jq_filter: filter };
  return { source_cache_id: source, ...how, made_at: new Date(madeAt).toISOString() };
}

/** Results of operations, then parts that were kept. */
async function listed({ broker, principal }: BrokerToolCall): Promise<ToolAnswer> {
  const [views, { entries, more }] = await Promise.all([
    broker.list(principal, MOST_LISTED, { isWanted: ({ resultBytes }) => resultBytes !== undefined }),
    broker.results.listOf(principal, MOST_LISTED),
  ]);
  const results = views.flatMap(({ record: { logId, executedAs, resultBytes, tool, endedAt = 0 } }) =>
    resultBytes === undefined || executedAs !== undefined
      ? []
      : [{ ...sized(logId, resultBytes), tool, ended_at: new Date(endedAt).toISOString() }],
  );
  const cached = entries.map(({ id, ...one }) => ({
    ...describe({ cacheId: id, bytes: one.bytes, filtered: one }),
    ...shortOf(one),
  }));
  const unlisted = more > 0 ? ` ${more} more of these are not listed.` : "";
  const message = `${results.length} result(s) of operations, newest first; ${cached.length} filtered result(s), most recently used first.${unlisted}`;
  return { status: "completed", results, cached_responses: cached, message };
}

/** The shortened form in a list; `info` shows all of it. */
function shortOf({ filter, projection = {} }: About): Record<string, unknown> {
  const { fields, path } = projection;
  const beginning = (text: string): string => shortened(text, LISTED_TEXT);
  return {
    ...(filter === undefined ? {} : { jq_filter: beginning(filter) }),
    ...(fields === undefined ? {} : { fields: beginning(fields.join(", ")).split(", ") }),
    ...(path === undefined ? {} : { path: beginning(path) }),
  };
}

function missing(cacheId: string): ToolAnswer {
  const message =
    "You have no such cached response, or it has expired: an operation's result is kept for its retention, a filtered one for 30 minutes after its last use. Filter its source again, or see list_operations.";
  return { status: "not_found", cache_id: head(cacheId, 100), error_code: "NOT_FOUND", message };
}

/** Errors caused by the caller's request; the kind decides the code. */
const CALLERS: readonly DocumentErrorKind[] = ["refused", "syntax", "runtime"];

function failed(cacheId: string, { kind, message: error }: DocumentError): ToolAnswer {
  if (kind === "missing") return missing(cacheId);
  const code: ErrorCode = CALLERS.includes(kind) ? "INVALID_ARGUMENTS" : "FETCH_FAILED";
  const { message } = new BrokerError(code, /[.!?]$/.test(error) ? error : `${error}.`);
  return { status: "error", cache_id: cacheId, error_code: code, error_type: kind, error, message };
}
