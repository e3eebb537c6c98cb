/** The operations on a document inside a thread: one entry each, with the type of its result. */
import { type Page, type PageRequest, pageAt, pageIndexOf } from "../shared/results/page.js";
import { type Preview, previewOf } from "../shared/results/preview.js";
import { type Projection, type ProjectionRequest, project } from "../shared/results/projection.js";
import type { Document } from "./document.js";
import { type Filtered, filter } from "./jq.js";

export type DocumentOp =
  | { kind: "filter"; jq: string; maxOutputBytes: number }
  | ({ kind: "page" } & PageRequest)
  | ({ kind: "project" } & ProjectionRequest)
  | { kind: "preview" }
  /** Some of its bytes. */
  | { kind: "piece"; offset: number; length: number };

export interface Results {
  filter: Filtered;
  page: Page;
  project: Projection;
  preview: Preview;
  piece: { json: Uint8Array; total: number };
}

type OpOf<K extends DocumentOp["kind"]> = Extract<DocumentOp, { kind: K }>;

const OPERATIONS: {
  [K in DocumentOp["kind"]]: (document: Document, op: OpOf<K>) => Results[K] | Promise<Results[K]>;
} = {
  filter: ({ text }, { jq, maxOutputBytes }) => filter(text, jq, maxOutputBytes),
  page({ text, memo }, { page, pageSizeBytes, path }) {
    const index = memo(`pages ${pageSizeBytes} ${path ?? ""}`, () => pageIndexOf(text, path, pageSizeBytes));
    return pageAt(text, index, page);
  },
  project: ({ text }, request) => project(text, request),
  preview: ({ text, memo }) => memo("preview", () => previewOf(text)),
  piece: ({ text }, { offset, length }) => ({
    json: Buffer.from(text.subarray(offset, offset + length)),
    total: text.length,
  }),
};

export async function perform(document: Document, op: DocumentOp): Promise<Results[DocumentOp["kind"]]> {
  const operation = OPERATIONS[op.kind] as (document: Document, op: DocumentOp) => Results[typeof op.kind];
  return operation(document, op);
}
