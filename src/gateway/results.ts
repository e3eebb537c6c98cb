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

/** A document that this principal may read. */
export interface Source {
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

export interface Results {
  isLarge(bytes: number | undefined): boolean;
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
}

/** Of JSON in one answer: the message around it escapes every quote once more, and must not reach 8 MiB. */
export const MOST_BYTES = 6 * 1024 * 1024;

export function createResults(
  deps: { operations: Pick<Operations, "find">; derived: Derived; documents: Documents },
  options: { maxResultTokens: number },
): Results {
  const { operations, derived, documents } = deps;
  const isLarge: Results["isLarge"] = (bytes) =>
    bytes !== undefined && isTooLarge(bytes, options.maxResultTokens);
  const preview: Results["preview"] = (cacheId) =>
    documents.read(cacheId, { kind: "preview" }).catch(() => undefined);

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

  return {
    isLarge,
    preview,

    async find(principal, cacheId) {
      const record = await operations.find(cacheId);
      if (record) {
        const isTheirs = record.principal === principal && record.resultBytes !== undefined;
        return isTheirs ? { cacheId, bytes: record.resultBytes ?? 0, record } : undefined;
      }
      const about = await derived.find(principal, cacheId);
      return about && { cacheId, bytes: about.bytes, derived: about };
    },

    listOf: (principal) => derived.listOf(principal),

    async page({ cacheId }, request) {
      const { page, json, pagination } = await documents.read(cacheId, { kind: "page", ...request });
      if (json.byteLength > MOST_BYTES) throw hugeItem(pagination, json.byteLength);
      return { page, data: parsed(json), pagination };
    },

    async project(principal, { cacheId }, request, { keep, ...limits }) {
      const { json, told } = await documents.read(cacheId, { kind: "project", ...request }, limits);
      const about = { source: cacheId, projection: request };
      return { cut: await cutOf(principal, about, json, keep), told };
    },

    async filter(principal, { cacheId }, jq, { keep, ...limits }) {
      const { json, outputs } = await documents.filter(cacheId, jq, limits);
      return { cut: await cutOf(principal, { source: cacheId, filter: jq }, json, keep), outputs };
    },

    async whole({ cacheId }) {
      return parsed((await documents.read(cacheId, { kind: "text", maxBytes: MOST_BYTES })).json);
    },
  };
}

const bufferOf = (json: Uint8Array): Buffer => Buffer.from(json.buffer, json.byteOffset, json.byteLength);

function parsed(json: Uint8Array): unknown {
  if (json.byteLength > MOST_BYTES)
    throw new DocumentError("too_large", `It has ${json.byteLength} bytes, and ${MOST_BYTES} fit.`);
  try {
    return JSON.parse(bufferOf(json).toString("utf8"));
  } catch (error) {
    throw new DocumentError("malformed", `The document is not JSON: ${(error as Error).message}`);
  }
}

function hugeItem({ field, start_index: index }: Pagination, bytes: number): DocumentError {
  const item = `${field ?? ""}[${index}]`;
  return new DocumentError(
    "too_large",
    `The page takes ${bytes} bytes, and ${MOST_BYTES} fit in one message. Ask for a smaller page; of an item that is larger by itself turn the pages of a list inside of it, by a path that begins with ${item}, or take some of its fields.`,
  );
}
