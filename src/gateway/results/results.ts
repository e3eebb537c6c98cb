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
import type { Arguments } from "../../shared/store/operations/attachments.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type {
  About,
  FilteredResults,
  ListedFilteredResults,
} from "../../shared/store/results/filtered-results.js";
import { decodeResult, encodeText, type StoredResult } from "../../shared/store/results/stored-result.js";
import { contentOf, mayBeContent, textTokens } from "./content.js";
import { mayHaveFiles, withoutContents } from "./file-contents.js";
import type { PartialDocuments } from "./partial-documents.js";

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
  /** What the operation has reported so far, in place of a result: the document has this name. */
  partial?: string | undefined;
}

/** A part of a document, or a reference to it if it is large and was kept. */
export type Cut = { data: unknown } | { kept: CachedForm };

export interface CutOptions extends RequestLimits {
  /** Keep a large part; otherwise it is refused if it does not fit one message. */
  keep: boolean;
  /** Most bytes of the answer that it is for; a larger part is kept as well. */
  mostBytes?: number | undefined;
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
  preview(document: string): Promise<Preview | undefined>;
  /** Undefined if there is none or it belongs to another principal. Restarts the 30 minutes of a kept part. */
  find(principal: string, cacheId: string): Promise<Source | undefined>;
  /** The kept parts of this principal, most recently used first. */
  listOf(principal: string, most: number): Promise<ListedFilteredResults>;
  /** What `info` says beside its size: how long it is kept, and what the operation was called with, as far as that is known. */
  detailsOf(source: Source): Promise<{ keptForMs: number | undefined; parameters: Arguments }>;
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
    operations: Pick<Operations, "find" | "resultOf" | "argumentsOf" | "keptFor">;
    filteredResults: FilteredResults;
    partials: Pick<PartialDocuments, "find">;
    documents: Documents;
  },
  options: { maxResultTokens: number },
): Results {
  const { operations, filteredResults, partials, documents } = deps;
  const { maxResultTokens } = options;
  const isLarge = (bytes: number): boolean => isTooLarge(bytes, maxResultTokens);
  const preview: Results["preview"] = (document) =>
    documents.read(document, { kind: "preview" }).catch(() => undefined);

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
    { keep, mostBytes = Number.POSITIVE_INFINITY }: Pick<CutOptions, "keep" | "mostBytes">,
  ): Promise<Cut> => {
    const bytes = json.byteLength;
    const id =
      keep && (isLarge(bytes) || bytes > mostBytes || answered(json) > mostBytes)
        ? await filteredResults.keep(principal, { ...about, bytes }, await encodeText(bufferOf(json)))
        : undefined;
    return id === undefined ? { data: parsed(json) } : { kept: cachedForm(id, bytes, await preview(id)) };
  };

  const piece: Results["piece"] = async (source, offset, length) => {
    const { asker } = source;
    const { json, total } = await documents.read(
      documentOf(source),
      { kind: "piece", offset, length },
      { asker },
    );
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
        if (record?.principal !== principal) return undefined;
        const { logId, resultBytes } = record;
        if (resultBytes !== undefined)
          return { asker: principal, cacheId: logId, bytes: resultBytes, record };
        const reported = await partials.find(logId);
        return (
          reported && {
            ...{ asker: principal, cacheId: logId, bytes: reported.bytes, record },
            partial: reported.document,
          }
        );
      }
      const about = await filteredResults.find(principal, cacheId);
      return about && { asker: principal, cacheId, bytes: about.bytes, filtered: about };
    },

    listOf: (principal, most) => filteredResults.listOf(principal, most),

    async detailsOf({ cacheId, record }) {
      const [keptForMs, parameters] = await Promise.all([
        (record ? operations : filteredResults).keptFor(cacheId),
        record && operations.argumentsOf(record.logId),
      ]);
      return { keptForMs, parameters };
    },

    async page(source, request) {
      const { page, json, pagination } = await documents.read(
        documentOf(source),
        { kind: "page", ...request },
        { asker: source.asker },
      );
      if (json.byteLength > MOST_BYTES) throw hugeItem(pagination, json.byteLength);
      return { page, data: parsed(json), pagination };
    },

    async project(principal, source, request, { keep, mostBytes, ...limits }) {
      const { json, summary } = await documents.read(
        documentOf(source),
        { kind: "project", ...request },
        { ...limits, asker: principal },
      );
      const about = { source: source.cacheId, projection: request };
      return { cut: await cutOf(principal, about, json, { keep, mostBytes }), summary };
    },

    async filter(principal, source, jq, { keep, mostBytes, ...limits }) {
      const { json, outputs } = await documents.filter(documentOf(source), jq, {
        ...limits,
        asker: principal,
      });
      const about = { source: source.cacheId, filter: jq };
      return { cut: await cutOf(principal, about, json, { keep, mostBytes }), outputs };
    },

    async whole(source) {
      const { bytes, total } = await piece(source, 0, MOST_BYTES);
      if (total > bytes.byteLength) throw tooLarge(total);
      return parsed(bytes);
    },

    piece,
  };
}

export const documentOf = ({ cacheId, partial }: Pick<Source, "cacheId" | "partial">): string =>
  partial ?? cacheId;

/** What the rest of an answer with a part takes, bytes. */
const BESIDE = 1_500;

/** Bytes of an answer with this part: its text is a string in the message, which escapes each quote and backslash. */
function answered(json: Uint8Array): number {
  let escaped = 0;
  for (const byte of json) if (byte === QUOTE || byte === BACKSLASH) escaped += 1;
  return json.byteLength + escaped + BESIDE;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** The largest page that fits an answer, whatever it consists of. */
export const largestPage = (mostBytes: number): number => Math.floor((mostBytes - BESIDE) / 2);

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
