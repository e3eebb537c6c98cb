/** What can be done with a document inside a thread: one entry here, and its result's type. */
import type { Document } from "./document.js";
import { type Filtered, filter } from "./jq.js";

export type DocumentOp =
  | { kind: "filter"; jq: string; maxOutputBytes: number }
  /** How large it is, and how many items or fields its outermost level has (0 for a scalar). */
  | { kind: "size" };

export interface Results {
  filter: Filtered;
  size: { bytes: number; items: number };
}

type OpOf<K extends DocumentOp["kind"]> = Extract<DocumentOp, { kind: K }>;

const OPERATIONS: {
  [K in DocumentOp["kind"]]: (document: Document, op: OpOf<K>) => Results[K] | Promise<Results[K]>;
} = {
  filter: (document, { jq, maxOutputBytes }) => filter(document.text, jq, maxOutputBytes),
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
