/**
 * Reads stored results under their log_id, whole if small, else as a preview, pages or filtered parts; the parts have ids of their own.
 * Nothing here reaches an Editor.
 */
import { type ContentBlock, ContentBlockSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { DocumentError } from "../../documents/document-error.js";
import type { Documents, RequestLimits } from "../../documents/documents.js";
import type { OperationRecord } from "../../shared/operation/operation.js";
import { head } from "../../shared/printable.js";
import type { PageRequest, Pagination } from "../../shared/results/page.js";
import {
  type CachedForm,
  CHARACTERS_PER_TOKEN,
  cachedForm,
  estimatedTokens,
  type Preview,
} from "../../shared/results/preview.js";
import type { Projected, ProjectionRequest } from "../../shared/results/projection.js";
import type { About, FilteredResults, ListedFilteredResults } from "../../shared/store/filtered-results.js";
import type { Arguments, Operations } from "../../shared/store/operations/operation-store.js";
import { decodeResult, encodeText, type StoredResult } from "../../shared/store/operations/record.js";
import type { PartialDocuments } from "./partial-documents.js";
import { artifactOf, resourceOf } from "./result-uri.js";

// Small files that a tool puts into its result: `FileContents: [{Path, Bytes, Base64}]`, as build-player does. Answers have
// their addresses instead of their bytes: programs read them there, from the stored result.

const Result = z.looseObject({ FileContents: z.array(z.unknown()).min(1) });
const File = z.looseObject({ Path: z.string().min(1), Base64: z.string() });

/** Whether a large result may be large because of such files, and so should be examined. */
function mayHaveFiles(preview: Preview | undefined): boolean {
  return preview?.keys?.FileContents?.startsWith("array[") === true;
}

/** The result with addresses in place of the contents; undefined if it has none. */
function withoutContents(result: unknown, logId: string): Record<string, unknown> | undefined {
  const read = Result.safeParse(result).data;
  if (!read) return undefined;
  const files = read.FileContents.map((entry) => {
    const file = File.safeParse(entry).data;
    if (!file) return entry;
    const { Base64: _, ...rest } = file;
    const uri = artifactOf(logId, file.Path);
    return uri === undefined ? rest : { ...rest, Uri: uri };
  });
  return { ...read, FileContents: files };
}

/** The content of the first file of this path; undefined if the result has none. */
export function contentAt(result: unknown, path: string): Buffer | undefined {
  const entries = Result.safeParse(result).data?.FileContents ?? [];
  const found = entries.map((entry) => File.safeParse(entry).data).find((file) => file?.Path === path);
  return found && Buffer.from(found.Base64, "base64");
}

// Results that are MCP content themselves (`{"content": [{"type": "image", …}]}`): their blocks are passed on as blocks,
// and binary ones are also offered as a resource, so that no answer carries more than a client can take.

const Content = z.looseObject({ content: z.array(ContentBlockSchema).min(1) });

/** Most base64 characters in the blocks of one answer; a block that does not fit is only linked. */
const INLINE_CHARACTERS = 1024 * 1024;

/** The blocks of a result that is MCP content; undefined if it is an ordinary value. */
export function contentOf(result: unknown): ContentBlock[] | undefined {
  return Content.safeParse(result).data?.content;
}

/** Whether a large result may be content that is large because of its pictures, and so should be examined. */
function mayBeContent(preview: Preview | undefined): boolean {
  return preview?.keys?.content?.startsWith("array[") === true;
}

/** The tokens of the blocks' text, which a model reads. */
function textTokens(blocks: readonly ContentBlock[]): number {
  return blocks.reduce(
    (sum, block) => sum + (binaryOf(block) ? 0 : estimatedTokens(JSON.stringify(block))),
    0,
  );
}

export interface Binary {
  base64: string;
  /** Of a picture: by its bytes; application/octet-stream if it is none that models see. */
  mimeType: string;
}

export function binaryOf(block: ContentBlock): Binary | undefined {
  if (block.type === "image") return { base64: block.data, mimeType: pictureType(block.data) ?? OCTETS };
  if (block.type === "audio") return { base64: block.data, mimeType: block.mimeType };
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  const { blob, mimeType = OCTETS } = block.resource;
  return { base64: blob, mimeType: mimeType.startsWith("image/") ? (pictureType(blob) ?? OCTETS) : mimeType };
}

const OCTETS = "application/octet-stream";

/** The pictures that models see, by the hexadecimal form of their first bytes. Their APIs refuse a request with any other. */
const PICTURES: [mimeType: string, beginning: RegExp][] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
];

/** The type of a picture that models see, whatever it is called; undefined if it is none. */
function pictureType(base64: string): string | undefined {
  const beginning = Buffer.from(base64.slice(0, 24), "base64").toString("hex");
  return PICTURES.find(([, ofType]) => ofType.test(beginning))?.[0];
}

/** The result in the form for the text, and the blocks that follow the text. */
export function handedOn(result: unknown, logId: string): { shown: unknown; blocks: ContentBlock[] } {
  const content = contentOf(result);
  if (content === undefined) return { shown: withoutContents(result, logId) ?? result, blocks: [] };
  const first = content.map(binaryOf).find((binary) => binary !== undefined);
  const link = first && { ...resourceOf(logId), type: "resource_link" as const, mimeType: first.mimeType };
  let room = INLINE_CHARACTERS;
  const blocks = content.flatMap((block): ContentBlock[] => {
    const binary = binaryOf(block);
    if (!binary) return block.type === "text" ? [] : [block];
    const { base64, mimeType } = binary;
    if (block.type === "image" && mimeType === OCTETS) return [unseen(block.mimeType, binary, link?.uri)];
    if (base64.length > room) return [];
    room -= base64.length;
    if (block.type === "resource") return [{ ...block, resource: { ...block.resource, mimeType } }];
    return [block.type === "image" ? { ...block, mimeType } : block];
  });
  const described = content.map((block) => {
    const binary = binaryOf(block);
    return binary
      ? { type: block.type, mimeType: binary.mimeType, bytes: bytesOf(binary), uri: link?.uri }
      : block;
  });
  return {
    shown: { ...(result as Record<string, unknown>), content: described },
    blocks: link ? [...blocks, link] : blocks,
  };
}

function unseen(named: string, binary: Binary, uri: string | undefined): ContentBlock {
  const what = `A picture is not shown: ${head(named, 100)}, ${bytesOf(binary)} bytes.`;
  const text = `${what} Models see PNG, JPEG, GIF and WebP. Read its bytes as the resource ${uri}.`;
  return { type: "text", text };
}

const bytesOf = ({ base64 }: Binary): number => Buffer.byteLength(base64, "base64");

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
  /** `piece`: its only one, if that was read with the record. */
  delivered(record: OperationRecord, piece?: Buffer): Promise<DeliveredResult>;
  /** The JSON text of a result that an answer carries whole; undefined if it is too large. */
  shown(result: StoredResult): Promise<string | undefined>;
  /** Undefined if it cannot be made now: the answer is complete without it. */
  preview(document: string): Promise<Preview | undefined>;
  /** Undefined if there is none or it belongs to another principal. Restarts the 30 minutes of a kept part. */
  find(principal: string, cacheId: string): Promise<Source | undefined>;
  /** The kept parts of this principal, most recently used first. */
  listOf(principal: string, most: number): Promise<ListedFilteredResults>;
  /** How long it is kept, ms; undefined: its operation is in flight, or it is gone. */
  keptFor(source: Source): Promise<number | undefined>;
  /** As the caller gave them. */
  argumentsOf(record: OperationRecord): Promise<Arguments>;
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
  const mostWhole = maxResultTokens * CHARACTERS_PER_TOKEN;
  const isLarge = (bytes: number): boolean => bytes > mostWhole;
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

    async delivered(record, piece) {
      const { logId, resultBytes: bytes } = record;
      if (bytes === undefined || !isLarge(bytes))
        return { result: await (piece ? decodeResult([piece]) : operations.resultOf(logId)) };
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

    keptFor: ({ cacheId, record }) => (record ? operations : filteredResults).keptFor(cacheId),
    argumentsOf: ({ logId }) => operations.argumentsOf(logId),

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
