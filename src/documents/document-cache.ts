/** The documents that a thread keeps: least recently used ones leave first. Two budgets, texts and parsed values. */
import { createDocument, type Document, textOf } from "./document.js";
import { DocumentError } from "./document-error.js";
import type { ThreadLimits } from "./messages.js";

export interface DocumentCache {
  /** What is held under the key, or what the chunks contain; kept if the budget has room for it at all. */
  open(key: string, chunks: readonly Uint8Array[] | undefined): Document;
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
    if (document.text.length > limits.cacheBytes) return;
    documents.set(key, document);
    bytes += document.text.length;
    for (const [oldest, held] of documents) {
      if (bytes <= limits.cacheBytes) return;
      drop(oldest, held);
    }
  };

  /** Texts stay where values go: parsing again is cheaper than loading again. */
  const makeRoom = (needed: number): void => {
    if (needed > limits.parsedBytes)
      throw new DocumentError(
        "memory",
        `The document may need ${needed} bytes of memory when parsed, and ${limits.parsedBytes} are allowed. Filter it instead.`,
      );
    let parsed = needed;
    for (const document of documents.values()) parsed += document.parsedBytes();
    for (const document of documents.values()) {
      if (parsed <= limits.parsedBytes) return;
      parsed -= document.parsedBytes();
      document.forgetValue();
    }
  };

  return {
    open(key, chunks) {
      const held = documents.get(key);
      if (held !== undefined) {
        documents.delete(key);
        documents.set(key, held);
        return held;
      }
      if (chunks === undefined) throw new DocumentError("crashed", "The thread does not hold the document.");
      const document = createDocument(textOf(chunks, limits.maxDocumentBytes), makeRoom);
      keep(key, document);
      return document;
    },
    held: () => [...documents.keys()],
  };
}
