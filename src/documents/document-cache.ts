/** The documents that a thread keeps, with the indexes built from them; the least recently used are dropped first. */
import { createDocument, type Document, sizeOf, textOf } from "./document.js";
import { DocumentError } from "./document-error.js";
import type { ThreadLimits } from "./messages.js";

export interface DocumentCache {
  /**
   * The document of the key, or of the chunks, which are given away. It is kept, whatever its size: a
   * document is loaded once and not for every page. The budget limits the other documents.
   */
  open(key: string, chunks: readonly Uint8Array[] | undefined): Promise<Document>;
  held(): string[];
}

export function createDocumentCache(limits: ThreadLimits): DocumentCache {
  /** In order of use, the newest last. */
  const documents = new Map<string, Document>();
  let bytes = 0;

  const drop = (key: string, document: Document): void => {
    documents.delete(key);
    bytes -= document.text.length;
  };

  const keep = (key: string, document: Document): void => {
    documents.set(key, document);
    bytes += document.text.length;
  };

  /** Dropped before the next is loaded: two large documents at once would take twice the memory. */
  const makeRoomFor = (length: number): void => {
    for (const [oldest, held] of documents) {
      if (bytes + length <= limits.cacheBytes) return;
      drop(oldest, held);
    }
  };

  return {
    async open(key, chunks) {
      const held = documents.get(key);
      if (held !== undefined) {
        documents.delete(key);
        documents.set(key, held);
        return held;
      }
      if (chunks === undefined) throw new DocumentError("crashed", "The thread does not have the document.");
      makeRoomFor(sizeOf(chunks));
      const document = createDocument(await textOf(chunks, limits.maxDocumentBytes));
      release(chunks);
      keep(key, document);
      return document;
    },
    held: () => [...documents.keys()],
  };
}

// Bytes with a buffer of their own: they can be moved between threads, and returned to the system.

/** The buffers of such bytes. A piece of a larger buffer is left out: others may own the rest. */
export const ownBuffers = (chunks: readonly Uint8Array[]): ArrayBuffer[] =>
  chunks
    .filter((chunk) => chunk.byteLength === chunk.buffer.byteLength)
    .map((chunk) => chunk.buffer as ArrayBuffer);

/**
 * Frees the memory of the chunks now, instead of at a collection that an idle thread may never run: a
 * message without a receiver is destroyed with the buffers that were moved into it. The chunks are empty afterwards.
 */
function release(chunks: readonly Uint8Array[]): void {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(undefined, ownBuffers(chunks));
  port1.close();
  port2.close();
}
