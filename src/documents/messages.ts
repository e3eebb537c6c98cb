/** The messages between the gateway's thread and a document thread. One request is in progress at a time. */
import type { DocumentErrorKind } from "./document-error.js";
import type { DocumentOp } from "./document-operations.js";

/** The data that a thread is started with (its workerData). */
export interface ThreadLimits {
  /** Of the texts that are kept, bytes. */
  cacheBytes: number;
  /** Of one document after decompression, bytes. */
  maxDocumentBytes: number;
  /** Of the thread's heap, which holds no documents. */
  maxHeapMb: number;
}

export interface ThreadRequest {
  key: string;
  op: DocumentOp;
  /** The document as loaded; undefined if the thread holds it already. */
  chunks?: readonly Uint8Array[];
}

export type ThreadAnswer = {
  /** The keys that it holds now. */
  held: string[];
} & ({ result: unknown } | { error: { kind: DocumentErrorKind; message: string } });

/** Said once, when requests can be taken. */
export const READY = "ready";
