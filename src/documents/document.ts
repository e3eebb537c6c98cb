/** One document inside a thread: its text as bytes, and its value where somebody asked for it. */
import { gunzipSync } from "node:zlib";
import { DocumentError } from "./document-error.js";
import { parseCost } from "./parse-cost.js";

export interface Document {
  /** UTF-8. */
  readonly text: Buffer;
  /** Parsed on first use. Shared by all readers: nobody may change it. */
  value(): unknown;
  /** What `make` made of the value the first time that this name was asked for. */
  derived<T>(name: string, make: (value: unknown) => T): T;
  /** Heap bytes of the value by estimate; 0 where it is not parsed. */
  parsedBytes(): number;
  /** Frees the value, not the text. */
  forgetValue(): void;
}

/** `makeRoom` is called before parsing, with the heap bytes it needs at most; it throws if there is no such room. */
export function createDocument(text: Buffer, makeRoom: (bytes: number) => void): Document {
  let parsed: { value: unknown; cost: number; derived: Map<string, unknown> } | undefined;

  const parse = (): NonNullable<typeof parsed> => {
    if (parsed !== undefined) return parsed;
    const cost = parseCost(text);
    makeRoom(cost);
    try {
      parsed = { value: JSON.parse(text.toString()), cost, derived: new Map() };
    } catch (error) {
      throw new DocumentError("malformed", `The document is not JSON: ${(error as Error).message}`);
    }
    return parsed;
  };

  return {
    text,
    value: () => parse().value,
    derived<T>(name: string, make: (value: unknown) => T): T {
      const { value, derived } = parse();
      if (!derived.has(name)) derived.set(name, make(value));
      return derived.get(name) as T;
    },
    parsedBytes: () => parsed?.cost ?? 0,
    forgetValue() {
      parsed = undefined;
    },
  };
}

/** The text of what was loaded: plain JSON, or gzip by its first two bytes. */
export function textOf(chunks: readonly Uint8Array[], maxBytes: number): Buffer {
  const loaded = Buffer.concat(chunks);
  const text = loaded[0] === 0x1f && loaded[1] === 0x8b ? unzipped(loaded, maxBytes) : loaded;
  if (text.length > maxBytes) throw tooLarge(maxBytes);
  // jq takes nothing for no document rather than for a broken one.
  if (text.every((byte) => byte <= 0x20)) throw new DocumentError("malformed", "The document is empty.");
  return text;
}

function unzipped(loaded: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(loaded, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw new DocumentError("malformed", `The document cannot be decompressed: ${(error as Error).message}`);
  }
}

const tooLarge = (maxBytes: number): DocumentError =>
  new DocumentError("too_large", `The document is larger than ${maxBytes} bytes.`);
