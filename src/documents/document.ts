/** One document inside a thread: its text as bytes, and the indexes built from it. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { DocumentError } from "./document-error.js";

export interface Document {
  /** UTF-8. */
  readonly text: Buffer;
  /** The value that `make` made when this name was first requested. */
  memo<T>(name: string, make: () => T): T;
}

export function createDocument(text: Buffer): Document {
  const known = new Map<string, unknown>();
  return {
    text,
    memo<T>(name: string, make: () => T): T {
      if (!known.has(name)) known.set(name, make());
      return known.get(name) as T;
    },
  };
}

/** The text of a loaded document: plain JSON, or gzip, recognised by its first two bytes. */
export async function textOf(chunks: readonly Uint8Array[], maxBytes: number): Promise<Buffer> {
  const text = isZipped(chunks) ? await unzipped(chunks, maxBytes) : Buffer.concat(chunks);
  if (text.length > maxBytes) throw tooLarge(maxBytes);
  // jq accepts empty input, as no document at all.
  if (text.every((byte) => byte <= 0x20)) throw new DocumentError("malformed", "The document is empty.");
  return text;
}

/** Bytes of that text: gzip stores the size at its end. */
export function sizeOf(chunks: readonly Uint8Array[]): number {
  if (!isZipped(chunks)) return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const tail = Buffer.concat(chunks.slice(-SIZE_BYTES).map((chunk) => chunk.subarray(-SIZE_BYTES)));
  return tail.length < SIZE_BYTES ? 0 : tail.readUInt32LE(tail.length - SIZE_BYTES);
}

const isZipped = ([first]: readonly Uint8Array[]): boolean => first?.[0] === 0x1f && first[1] === 0x8b;

/** Decompresses into one buffer of its size, so that a large document is in memory once. */
async function unzipped(chunks: readonly Uint8Array[], maxBytes: number): Promise<Buffer> {
  const size = sizeOf(chunks);
  if (size > maxBytes) throw tooLarge(maxBytes);
  const text = Buffer.allocUnsafeSlow(size);
  let length = 0;
  try {
    await pipeline(Readable.from(chunks), createGunzip({ chunkSize: PART_BYTES }), async (parts) => {
      for await (const part of parts as AsyncIterable<Buffer>) length += part.copy(text, length);
    });
  } catch (error) {
    throw new DocumentError("malformed", `The document cannot be decompressed: ${(error as Error).message}`);
  }
  return text.subarray(0, length);
}

const SIZE_BYTES = 4;
const PART_BYTES = 1024 * 1024;
const tooLarge = (maxBytes: number): DocumentError =>
  new DocumentError("too_large", `The document is larger than ${maxBytes} bytes.`);
