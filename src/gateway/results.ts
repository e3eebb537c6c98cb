/**
 * Large documents, read in part: stored results under their log_id, and what was filtered out of them under an id of
 * its own. Nothing here reaches an Editor.
 */
import type { Documents, RequestLimits } from "../documents/documents.js";
import { type CachedForm, cachedForm, isTooLarge } from "../shared/cached.js";
import type { OperationRecord } from "../shared/operation.js";
import type { Page, PageRequest } from "../shared/page.js";
import type { Preview } from "../shared/preview.js";
import type { Projection, ProjectionRequest } from "../shared/projection.js";
import type { About, Derived } from "../shared/redis/derived.js";
import type { Operations } from "../shared/redis/operations.js";
import { encodeText } from "../shared/redis/stored-result.js";

/** A document that this principal may read. */
export interface Source {
  cacheId: string;
  /** Of its JSON. */
  bytes: number;
  /** What it was filtered out of; undefined: it is an operation's result. */
  derived?: About | undefined;
  /** The operation whose result it is. */
  record?: OperationRecord | undefined;
}

/** What a filter gave, or where that is kept because it is large. */
export type Filtered = { value: unknown; outputs: number } | { kept: CachedForm; outputs: number };

export interface Results {
  isLarge(bytes: number | undefined): boolean;
  /** Undefined where it cannot be made now: the answer is complete without it. */
  preview(cacheId: string): Promise<Preview | undefined>;
  /** Undefined: there is none, or it is another principal's. Of a filtered one the 30 minutes begin again. */
  find(principal: string, cacheId: string): Promise<Source | undefined>;
  /** The filtered ones of this principal, the last used first. */
  listOf(principal: string): Promise<({ id: string } & About)[]>;
  // The rest rejects with a DocumentError.
  page(source: Source, request: PageRequest): Promise<Page>;
  project(source: Source, request: ProjectionRequest): Promise<Projection>;
  filter(
    principal: string,
    source: Source,
    jq: string,
    options: { keep: boolean } & RequestLimits,
  ): Promise<Filtered>;
  /** All of it; rejects with `too_large` above so many bytes. */
  whole(source: Source, maxBytes: number): Promise<unknown>;
}

export function createResults(
  deps: { operations: Pick<Operations, "find">; derived: Derived; documents: Documents },
  options: { maxResultTokens: number },
): Results {
  const { operations, derived, documents } = deps;
  const isLarge: Results["isLarge"] = (bytes) =>
    bytes !== undefined && isTooLarge(bytes, options.maxResultTokens);
  const preview: Results["preview"] = (cacheId) =>
    documents.read(cacheId, { kind: "preview" }).catch(() => undefined);

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
    page: ({ cacheId }, request) => documents.read(cacheId, { kind: "page", ...request }),
    project: ({ cacheId }, request) => documents.read(cacheId, { kind: "project", ...request }),

    async filter(principal, source, jq, { keep, ...limits }) {
      const { json, outputs } = await documents.filter(source.cacheId, jq, limits);
      const text = Buffer.from(json);
      if (!keep || !isLarge(text.length)) return { value: JSON.parse(text.toString("utf8")), outputs };
      const about = { source: source.cacheId, filter: jq, bytes: text.length };
      const id = await derived.keep(principal, about, await encodeText(text));
      if (id === undefined) return { value: JSON.parse(text.toString("utf8")), outputs };
      return { kept: cachedForm(id, text.length, await preview(id)), outputs };
    },

    async whole({ cacheId }, maxBytes) {
      const { json } = await documents.read(cacheId, { kind: "text", maxBytes });
      return JSON.parse(Buffer.from(json).toString("utf8"));
    },
  };
}
