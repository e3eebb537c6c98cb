/**
 * Large documents, read in part: stored results under their log_id, and what was cut out of them under an id of its own.
 * Nothing here reaches an Editor.
 */
import { DocumentError } from "../documents/document-error.js";
import type { Documents, RequestLimits } from "../documents/documents.js";
import { type CachedForm, cachedForm, isTooLarge } from "../shared/cached.js";
import type { OperationRecord } from "../shared/operation.js";
import type { PageRequest, Pagination } from "../shared/page.js";
import type { Preview } from "../shared/preview.js";
import type { Projected, ProjectionRequest } from "../shared/projection.js";
import type { About, Derived } from "../shared/redis/derived.js";
import type { Operations } from "../shared/redis/operations.js";
import { encodeText } from "../shared/redis/stored-result.js";
import { contentOf, mayBeContent, textTokens } from "./content.js";

/** A document that this principal may read. */
export interface Source {
  /** The principal: its requests take turns with others'. */
  asker: string;
  cacheId: string;
  /** Of its JSON. */
  bytes: number;
  /** What it was cut out of; undefined: it is an operation's result. */
  derived?: About | undefined;
  /** The operation whose result it is. */
  record?: OperationRecord | undefined;
}

/** What was cut out of a document, or where that is kept because it is large. */
export type Cut = { data: unknown } | { kept: CachedForm };

export interface CutOptions extends RequestLimits {
  /** Keep what is large; else it is refused where one message cannot carry it. */
  keep: boolean;
}

/** What an answer carries of a result: its JSON text, or in place of what is too large its size and a preview. */
export interface ToldResult {
  result?: string | undefined;
  large?: { bytes: number; preview: Preview | undefined } | undefined;
}

export interface Results {
  told(record: OperationRecord): Promise<ToldResult>;
  /** Undefined where it cannot be made now: the answer is complete without it. */
  preview(cacheId: string): Promise<Preview | undefined>;
  /** Undefined: there is none, or it is another principal's. Of a part that is kept the 30 minutes begin again. */
  find(principal: string, cacheId: string): Promise<Source | undefined>;
  /** The parts that are kept for this principal, the last used first. */
  listOf(principal: string): Promise<({ id: string } & About)[]>;
  // The rest rejects with a DocumentError.
  page(
    source: Source,
    request: PageRequest,
  ): Promise<{ page: number; data: unknown; pagination: Pagination }>;
  project(
    principal: string,
    source: Source,
    request: ProjectionRequest,
    options: CutOptions,
  ): Promise<{ cut: Cut; told: Projected }>;
  filter(
    principal: string,
    source: Source,
    jq: string,
    options: CutOptions,
  ): Promise<{ cut: Cut; outputs: number }>;
  whole(source: Source): Promise<unknown>;
  /** Some bytes of its text, and how many it has. */
  piece(source: Source, offset: number, length: number): Promise<{ bytes: Uint8Array; total: number }>;
}

/** Of JSON in one answer: the message around it escapes every quote once more, and must not reach 8 MiB. */
export const MOST_BYTES = 6 * 1024 * 1024;

/** Of a result whose size is in its pictures. */
const MOST_CONTENT_BYTES = 8 * 1024 * 1024;

export function createResults(
  deps: { operations: Pick<Operations, "find" | "resultOf">; derived: Derived; documents: Documents },
  options: { maxResultTokens: number },
): Results {
  const { operations, derived, documents } = deps;
  const { maxResultTokens } = options;
  const isLarge = (bytes: number): boolean => isTooLarge(bytes, maxResultTokens);
  const preview: Results["preview"] = (cacheId) =>
    documents.read(cacheId, { kind: "preview" }).catch(() => undefined);

  /** Its pictures are no text to read: it goes on as it is where its text alone is not too large. */
  const contentIn = async ({ logId }: OperationRecord, bytes: number): Promise<string | undefined> => {
    if (bytes > MOST_CONTENT_BYTES) return undefined;
    const text = await operations.resultOf(logId);
    const blocks = text === undefined ? undefined : contentOf(JSON.parse(text));
    return blocks && textTokens(blocks) <= maxResultTokens ? text : undefined;
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
        ? await derived.keep(principal, { ...about, bytes }, await encodeText(bufferOf(json)))
        : undefined;
    return id === undefined ? { data: parsed(json) } : { kept: cachedForm(id, bytes, await preview(id)) };
  };

  const piece: Results["piece"] = async ({ asker, cacheId }, offset, length) => {
    const { json, total } = await documents.read(cacheId, { kind: "piece", offset, length }, { asker });
    return { bytes: json, total };
  };

  return {
    preview,

    async told(record) {
      const { logId, resultBytes: bytes } = record;
      if (bytes === undefined || !isLarge(bytes)) return { result: await operations.resultOf(logId) };
      const shown = await preview(logId);
      const content = mayBeContent(shown) ? await contentIn(record, bytes) : undefined;
      return content === undefined ? { large: { bytes, preview: shown } } : { result: content };
    },

    async find(principal, cacheId) {
      const named = await operations.find(cacheId);
      // ▲10 (b) The result is that of the operation that answered the call.
      const record = named?.executedAs === undefined ? named : await operations.find(named.executedAs);
      if (named) {
        if (record?.principal !== principal || record.resultBytes === undefined) return undefined;
        return { asker: principal, cacheId: record.logId, bytes: record.resultBytes, record };
      }
      const about = await derived.find(principal, cacheId);
      return about && { asker: principal, cacheId, bytes: about.bytes, derived: about };
    },

    listOf: (principal) => derived.listOf(principal),

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
      const { json, told } = await documents.read(
        cacheId,
        { kind: "project", ...request },
        { ...limits, asker: principal },
      );
      const about = { source: cacheId, projection: request };
      return { cut: await cutOf(principal, about, json, keep), told };
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
  new DocumentError("too_large", `It has ${bytes} bytes, and ${MOST_BYTES} fit in one message.`);

function hugeItem({ field, start_index: index }: Pagination, bytes: number): DocumentError {
  const item = `${field ?? ""}[${index}]`;
  return new DocumentError(
    "too_large",
    `The page takes ${bytes} bytes, and ${MOST_BYTES} fit in one message. Ask for a smaller page; of an item that is larger by itself turn the pages of a list inside of it, by a path that begins with ${item}, or take some of its fields.`,
  );
}
