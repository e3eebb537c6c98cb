/** The messages between the gateway's thread and a document thread. One request is in progress at a time. */
import type { DocumentErrorKind } from "./document-error.js";
import type { DocumentOp } from "./document-operations.js";

/** The data that a thread starts with (its workerData). */
export interface ThreadLimits {
  /** Most bytes of kept texts. */
  cacheBytes: number;
  /** Most bytes of one document after decompression. */
  maxDocumentBytes: number;
  /** The size of the thread's heap, which holds no documents. */
  maxHeapMb: number;
}

export interface ThreadRequest {
  key: string;
  op: DocumentOp;
  /** The document as loaded; undefined if the thread has it already. */
  chunks?: readonly Uint8Array[];
}

export type ThreadAnswer = {
  /** The keys of the documents that the thread has now. */
  held: string[];
} & ({ result: unknown } | { error: { kind: DocumentErrorKind; message: string } });

/** Sent once, when the thread is ready for requests. */
export const READY = "ready";
