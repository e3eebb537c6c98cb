/** The documents that a thread keeps, with the indexes built from them; the least recently used are dropped first. */
import { createDocument, type Document, sizeOf, textOf } from "./document.js";
import { DocumentError } from "./document-error.js";
import type { ThreadLimits } from "./messages.js";
import { release } from "./own-bytes.js";

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
