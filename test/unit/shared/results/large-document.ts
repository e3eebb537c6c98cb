/** Documents that tests cut into pages, project and preview. */
import fc from "fast-check";
import {
  type PageIndex,
  type PageRequest,
  type Pagination,
  pageAt,
  pageIndexOf,
} from "../../../../src/shared/results/page.js";
import { previewOf } from "../../../../src/shared/results/preview.js";
import {
  type Projected,
  type ProjectionRequest,
  project,
} from "../../../../src/shared/results/projection.js";

/** JSON as a program could meet it: keys such as `__proto__`, any text (halves of surrogate pairs too), nested lists. */
export const anyItem = fc
  .jsonValue({ stringUnit: "binary", maxDepth: 3 })
  // There is no -0 in JSON that we write.
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** An object whose keys may be anything but the given ones. */
export function fieldsBeside(...taken: string[]): fc.Arbitrary<Record<string, unknown>> {
  const key = fc
    .oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "_pagination", "a.b", "0"))
    .filter((name) => !taken.includes(name));
  return fc
    .array(fc.tuple(key, fc.oneof(fc.string(), fc.integer(), fc.dictionary(fc.string(), fc.integer()))), {
      maxLength: 6,
    })
    .map((entries) => Object.fromEntries(entries));
}

/** The text of `{"name": …, "children": [ … ]}`, so many levels down. */
export function nested(levels: number): string {
  return `${'{"name":"a","children":['.repeat(levels)}${"]}".repeat(levels)}`;
}

/** UTF-8 bytes of the value as JSON, by the way that jsonBytes avoids. */
export function writtenBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A scene object as bridges list them, about 150 bytes. */
export function gameObject(id: number) {
  return {
    name: `Wall_${id}`,
    instanceId: -id,
    path: `/Level/Walls/Wall_${id}`,
    position: { x: id / 3, y: 0, z: -id },
    componentNames: ["Transform", "BoxCollider"],
  };
}

/** The document as it is stored; bytes are that already. */
const textOf = (document: unknown): Buffer =>
  Buffer.isBuffer(document) ? document : Buffer.from(JSON.stringify(document));

export interface ReadPage {
  page: number;
  data: unknown;
  pagination: Pagination;
}

export const indexOf = (document: unknown, path: string | undefined, size: number): PageIndex =>
  pageIndexOf(textOf(document), path, size);

export function readPage(document: unknown, index: PageIndex, page: number): ReadPage {
  const { json, ...reported } = pageAt(textOf(document), index, page);
  return {
    page: reported.page,
    data: JSON.parse(Buffer.from(json).toString()),
    pagination: reported.pagination,
  };
}

export const pageOf = (document: unknown, request: PageRequest): ReadPage =>
  readPage(document, indexOf(document, request.path, request.pageSizeBytes), request.page);

export function projected(document: unknown, request: ProjectionRequest): Projected & { items: unknown[] } {
  const { json, summary } = project(textOf(document), request);
  return { ...summary, items: JSON.parse(Buffer.from(json).toString()) as unknown[] };
}

export const previewed = (document: unknown) => previewOf(textOf(document));

/** The items of a page, wherever they are. */
export function itemsOf({ data, pagination: { field } }: ReadPage): unknown[] {
  return (field === undefined ? data : (data as Record<string, unknown>)[field]) as unknown[];
}
