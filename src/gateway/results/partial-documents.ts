/** What an operation has reported so far, as a document to be read in parts: while it runs, and afterwards if it left no result. */
import { createHash } from "node:crypto";
import { createBoundedMemory } from "../../shared/bounded-memory.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";

export interface PartialDocuments {
  /** Its name is that of this very text: what is reported later is another document. Undefined if there is nothing. */
  find(logId: string): Promise<{ document: string; bytes: number } | undefined>;
  /** The text of a document that was found a moment ago; the caller owns the buffers. */
  dataOf(document: string): Buffer[] | undefined;
}

/** Each has at most a million characters. */
const KEPT = 8;

export function createPartialDocuments(operations: Pick<Operations, "partialOf">): PartialDocuments {
  const texts = createBoundedMemory<string>(KEPT);
  return {
    async find(logId) {
      const text = await operations.partialOf(logId);
      if (text === undefined) return undefined;
      const document = `partial:${logId}:${createHash("sha256").update(text).digest("base64url")}`;
      texts.set(document, text);
      return { document, bytes: Buffer.byteLength(text) };
    },
    dataOf(document) {
      const text = texts.get(document);
      return text === undefined ? undefined : [Buffer.from(text)];
    },
  };
}
