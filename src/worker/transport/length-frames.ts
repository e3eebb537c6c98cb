/**
 * Frames of an 8-byte length (big-endian) and so many bytes of UTF-8, behind one line that the peer says first
 * (docs/reference/bridges.md). Bytes in, frames out; no I/O.
 */
import { excessOf } from "../../shared/wire/rpc.js";

/** What the parser found next. After `malformed` there are no frame boundaries any more: close the connection. */
export type LengthFrame =
  | { kind: "greeting"; line: string }
  | { kind: "message"; text: string }
  /** Within the limit of bytes, but of more JSON values than `maxValues`. */
  | { kind: "too_many_values"; length: number }
  | { kind: "malformed"; reason: string };

export interface LengthFrameParser {
  /** Hands over the next bytes, split anywhere. */
  push(chunk: Buffer): void;
  /** The next whole frame; undefined means "not yet". */
  next(): LengthFrame | undefined;
  /** Whether the rest of a frame is still to come. */
  midFrame(): boolean;
  /** Sets another limit of bytes, effective from the next frame. */
  allow(maxBytes: number): void;
}

const HEADER_BYTES = 8;
const MAX_GREETING_BYTES = 512;
const NEWLINE = 0x0a;
/** Bytes; a shorter body cannot have too many values. */
const FEW_BYTES = 256 * 1024;
/** Most frames without content before one with content. */
const MAX_EMPTY_FRAMES = 1_000;

export function createLengthFrameParser(maxBytes: number, maxValues: number): LengthFrameParser {
  let limit = maxBytes;
  /** Grows by doubling: a peer may send its bytes one by one. */
  let buffer = Buffer.alloc(0);
  let filled = 0;
  let greeted = false;
  let bodyLength: number | undefined;
  let emptyFrames = 0;
  let malformed: LengthFrame | undefined;

  const consume = (count: number): Buffer => {
    const taken = buffer.subarray(0, count);
    const rest = buffer.subarray(count, filled);
    filled -= count;
    buffer = Buffer.from(rest);
    return taken;
  };
  const fail = (reason: string): LengthFrame => {
    buffer = Buffer.alloc(0);
    filled = 0;
    bodyLength = undefined;
    malformed = { kind: "malformed", reason };
    return malformed;
  };

  const greeting = (): LengthFrame | undefined => {
    const end = buffer.subarray(0, filled).indexOf(NEWLINE);
    if (end > MAX_GREETING_BYTES || (end < 0 && filled > MAX_GREETING_BYTES)) return fail("no greeting line");
    if (end < 0) return undefined;
    greeted = true;
    return {
      kind: "greeting",
      line: consume(end + 1)
        .toString("latin1")
        .trimEnd(),
    };
  };

  /** Undefined: not yet; a frame: malformed. */
  const nextLength = (): number | LengthFrame | undefined => {
    while (filled >= HEADER_BYTES) {
      const length = consume(HEADER_BYTES).readBigUInt64BE();
      if (length > BigInt(limit)) return fail(`a frame of ${length} bytes is above the limit of ${limit}`);
      if (length > 0n) return Number(length);
      emptyFrames += 1;
      if (emptyFrames > MAX_EMPTY_FRAMES) return fail("too many frames without content");
    }
    return undefined;
  };

  return {
    push(chunk) {
      if (malformed) return;
      if (filled + chunk.length > buffer.length) {
        const grown = Buffer.alloc(Math.max(filled + chunk.length, Math.min(2 * filled, filled + limit)));
        buffer.copy(grown, 0, 0, filled);
        buffer = grown;
      }
      chunk.copy(buffer, filled);
      filled += chunk.length;
    },

    next() {
      if (malformed) return malformed;
      if (!greeted) return greeting();
      if (bodyLength === undefined) {
        const length = nextLength();
        if (typeof length !== "number") return length;
        bodyLength = length;
      }
      if (filled < bodyLength) return undefined;
      const body = consume(bodyLength);
      bodyLength = undefined;
      emptyFrames = 0;
      if (body.length > FEW_BYTES && excessOf(body, maxValues)) {
        return { kind: "too_many_values", length: body.length };
      }
      return { kind: "message", text: body.toString("utf8") };
    },

    midFrame: () => filled > 0 || bodyLength !== undefined,
    allow(bytes) {
      limit = bytes;
    },
  };
}

export function encodeLengthFrame(body: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeBigUInt64BE(BigInt(body.length));
  return Buffer.concat([header, body]);
}
