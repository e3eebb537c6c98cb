/**
 * Reads stored results under their log_id, whole if small, else as a preview, pages or filtered parts; the parts have ids of their own.
 * Nothing here reaches an Editor.
 */
import { DocumentError } from "../../documents/document-error.js";
import type { Documents, RequestLimits } from "../../documents/documents.js";
import type { OperationRecord } from "../../shared/operation/operation.js";
import { type CachedForm, cachedForm, isTooLarge } from "../../shared/results/cached.js";
import type { PageRequest, Pagination } from "../../shared/results/page.js";
import type { Preview } from "../../shared/results/preview.js";
import type { Projected, ProjectionRequest } from "../../shared/results/projection.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type {
  About,
  FilteredResults,
  ListedFilteredResults,
} from "../../shared/store/results/filtered-results.js";
import { decodeResult, encodeText, type StoredResult } from "../../shared/store/results/stored-result.js";
import { contentOf, mayBeContent, textTokens } from "./content.js";
import { mayHaveFiles, withoutContents } from "./file-contents.js";

/** A document that this principal may read. */
export interface Source {
  /** The principal: its requests take turns with those of others. */
  asker: string;
  cacheId: string;
  /** Size of its JSON. */
  bytes: number;
  /** How it was made, if it is a filtered result; undefined for an operation's result. */
  filtered?: About | undefined;
  /** The operation whose result it is. */
  record?: OperationRecord | undefined;
}

/** A part of a document, or a reference to it if it is large and was kept. */
export type Cut = { data: unknown } | { kept: CachedForm };

export interface CutOptions extends RequestLimits {
  /** Keep a large part; otherwise it is refused if it does not fit one message. */
  keep: boolean;
}

/** A result as an answer carries it: its JSON text or, if it is too large, its size and a preview. */
export interface DeliveredResult {
  result?: string | undefined;
  large?: { bytes: number; preview: Preview | undefined } | undefined;
}

export interface Results {
  delivered(record: OperationRecord): Promise<DeliveredResult>;
  /** The JSON text of a result that an answer carries whole; undefined if it is too large. */
  shown(result: StoredResult): Promise<string | undefined>;
  /** Undefined if it cannot be made now: the answer is complete without it. */
  preview(cacheId: string): Promise<Preview | undefined>;
  /** Undefined if there is none or it belongs to another principal. Restarts the 30 minutes of a kept part. */
  find(principal: string, cacheId: string): Promise<Source | undefined>;
  /** The kept parts of this principal, most recently used first. */
  listOf(principal: string, most: number): Promise<ListedFilteredResults>;
  // The methods below reject with a DocumentError.
  page(
    source: Source,
    request: PageRequest,
  ): Promise<{ page: number; data: unknown; pagination: Pagination }>;
  project(
    principal: string,
    source: Source,
    request: ProjectionRequest,
    options: CutOptions,
  ): Promise<{ cut: Cut; summary: Projected }>;
  filter(
    principal: string,
    source: Source,
    jq: string,
    options: CutOptions,
  ): Promise<{ cut: Cut; outputs: number }>;
  whole(source: Source): Promise<unknown>;
  /** Some bytes of its text, and the total number. */
  piece(source: Source, offset: number, length: number): Promise<{ bytes: Uint8Array; total: number }>;
}

/** Most JSON in one answer: the message around it escapes every quote again, and must not reach 8 MiB. */
export const MOST_BYTES = 6 * 1024 * 1024;

/** The same for a result that is large because of its pictures. */
const MOST_CONTENT_BYTES = 8 * 1024 * 1024;

export function createResults(
  deps: {
    operations: Pick<Operations, "find" | "resultOf">;
    filteredResults: FilteredResults;
    documents: Documents;
  },
  options: { maxResultTokens: number },
): Results {
  const { operations, filteredResults, documents } = deps;
  const { maxResultTokens } = options;
  const isLarge = (bytes: number): boolean => isTooLarge(bytes, maxResultTokens);
  const preview: Results["preview"] = (cacheId) =>
    documents.read(cacheId, { kind: "preview" }).catch(() => undefined);

  /** Pictures and files are not read as text: such a result is passed on whole if its text alone is not too large. */
  const contentIn = async ({ logId }: OperationRecord, bytes: number): Promise<string | undefined> => {
    if (bytes > MOST_CONTENT_BYTES) return undefined;
    const text = await operations.resultOf(logId);
    if (text === undefined) return undefined;
    const result: unknown = JSON.parse(text);
    const blocks = contentOf(result);
    if (blocks) return textTokens(blocks) <= maxResultTokens ? text : undefined;
    const shown = withoutContents(result, logId);
    return shown && !isLarge(Buffer.byteLength(JSON.stringify(shown))) ? text : undefined;
  };

  const cutOf = async (
    principal: string,
    about: Pick<About, "source" | "filter" | "projection">,
    json: Uint8Array,
    keep: boolean,
  ): Promise<Cut> => {
    const bytes = json.byteLength;
    const id =
      keep && isLarge(bytes)
        ? await filteredResults.keep(principal, { ...about, bytes }, await encodeText(bufferOf(json)))
        : undefined;
    return id === undefined ? { data: parsed(json) } : { kept: cachedForm(id, bytes, await preview(id)) };
  };

  const piece: Results["piece"] = async ({ asker, cacheId }, offset, length) => {
    const { json, total } = await documents.read(cacheId, { kind: "piece", offset, length }, { asker });
    return { bytes: json, total };
  };

  return {
    preview,

    async delivered(record) {
      const { logId, resultBytes: bytes } = record;
      if (bytes === undefined || !isLarge(bytes)) return { result: await operations.resultOf(logId) };
      const shown = await preview(logId);
      const content = mayBeContent(shown) || mayHaveFiles(shown) ? await contentIn(record, bytes) : undefined;
      return content === undefined ? { large: { bytes, preview: shown } } : { result: content };
    },

    shown: async ({ bytes, pieces }) => (isLarge(bytes) ? undefined : decodeResult(pieces)),

    async find(principal, cacheId) {
      const named = await operations.find(cacheId);
      // Chain check (▲10 b): the result belongs to the operation that answered the call.
      const record = named?.executedAs === undefined ? named : await operations.find(named.executedAs);
      if (named) {
        if (record?.principal !== principal || record.resultBytes === undefined) return undefined;
        return { asker: principal, cacheId: record.logId, bytes: record.resultBytes, record };
      }
      const about = await filteredResults.find(principal, cacheId);
      return about && { asker: principal, cacheId, bytes: about.bytes, filtered: about };
    },

    listOf: (principal, most) => filteredResults.listOf(principal, most),

    async page({ asker, cacheId }, request) {
      const { page, json, pagination } = await documents.read(
        cacheId,
        { kind: "page", ...request },
        { asker },
      );
      if (json.byteLength > MOST_BYTES) throw hugeItem(pagination, json.byteLength);
      return { page, data: parsed(json), pagination };
    },

    async project(principal, { cacheId }, request, { keep, ...limits }) {
      const { json, summary } = await documents.read(
        cacheId,
        { kind: "project", ...request },
        { ...limits, asker: principal },
      );
      const about = { source: cacheId, projection: request };
      return { cut: await cutOf(principal, about, json, keep), summary };
    },

    async filter(principal, { cacheId }, jq, { keep, ...limits }) {
      const { json, outputs } = await documents.filter(cacheId, jq, { ...limits, asker: principal });
      return { cut: await cutOf(principal, { source: cacheId, filter: jq }, json, keep), outputs };
    },

    async whole(source) {
      const { bytes, total } = await piece(source, 0, MOST_BYTES);
      if (total > bytes.byteLength) throw tooLarge(total);
      return parsed(bytes);
    },

    piece,
  };
}

const bufferOf = (json: Uint8Array): Buffer => Buffer.from(json.buffer, json.byteOffset, json.byteLength);

function parsed(json: Uint8Array): unknown {
  if (json.byteLength > MOST_BYTES) throw tooLarge(json.byteLength);
  try {
    return JSON.parse(bufferOf(json).toString("utf8"));
  } catch (error) {
    throw new DocumentError("malformed", `The document is not JSON: ${(error as Error).message}`);
  }
}

const tooLarge = (bytes: number): DocumentError =>
  new DocumentError("too_large", `It has ${bytes} bytes; at most ${MOST_BYTES} fit in one message.`);

function hugeItem({ field, start_index: index }: Pagination, bytes: number): DocumentError {
  const item = `${field ?? ""}[${index}]`;
  return new DocumentError(
    "too_large",
    `The page takes ${bytes} bytes; at most ${MOST_BYTES} fit in one message. Ask for a smaller page. If a single item is larger, page through a list inside it with a path that begins with ${item}, or read some of its fields.`,
  );
}
