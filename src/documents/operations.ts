/** What can be done with a document inside a thread: one entry here, and its result's type. */
import { type Page, type PageRequest, pageAt, pageIndexOf } from "../shared/page.js";
import { type Preview, previewOf } from "../shared/preview.js";
import { type Projection, type ProjectionRequest, project } from "../shared/projection.js";
import type { Document } from "./document.js";
import { DocumentError } from "./document-error.js";
import { type Filtered, filter } from "./jq.js";

export type DocumentOp =
  | { kind: "filter"; jq: string; maxOutputBytes: number }
  | ({ kind: "page" } & PageRequest)
  | ({ kind: "project" } & ProjectionRequest)
  | { kind: "preview" }
  /** All of it. */
  | { kind: "text"; maxBytes: number }
  /** How large it is, and how many items or fields its outermost level has (0 for a scalar). */
  | { kind: "size" };

export interface Results {
  filter: Filtered;
  page: Page;
  project: Projection;
  preview: Preview;
  text: { json: Buffer };
  size: { bytes: number; items: number };
}

type OpOf<K extends DocumentOp["kind"]> = Extract<DocumentOp, { kind: K }>;

const OPERATIONS: {
  [K in DocumentOp["kind"]]: (document: Document, op: OpOf<K>) => Results[K] | Promise<Results[K]>;
} = {
  filter: (document, { jq, maxOutputBytes }) => filter(document.text, jq, maxOutputBytes),
  page(document, { page, pageSizeBytes, path }) {
    const name = `pages ${pageSizeBytes} ${path ?? ""}`;
    const index = document.derived(name, (value) => pageIndexOf(value, path, pageSizeBytes));
    return pageAt(document.value(), index, page);
  },
  project: (document, request) => project(document.value(), request),
  preview: (document) => document.derived("preview", previewOf),
  text(document, { maxBytes }) {
    if (document.text.length > maxBytes)
      throw new DocumentError("too_large", `It has ${document.text.length} bytes, and ${maxBytes} fit.`);
    return { json: Buffer.from(document.text) };
  },
  size: (document) => ({
    bytes: document.text.length,
    items: document.derived("items", (value) =>
      typeof value === "object" && value !== null ? Object.keys(value).length : 0,
    ),
  }),
};

export async function perform(document: Document, op: DocumentOp): Promise<Results[DocumentOp["kind"]]> {
  const operation = OPERATIONS[op.kind] as (document: Document, op: DocumentOp) => Results[typeof op.kind];
  return operation(document, op);
}
