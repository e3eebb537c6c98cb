/** The stored form of a result: JSON in UTF-8, compressed if that is worth it, in pieces of a size that suits Redis. */
import { Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import { constants, createGzip, gunzip, gzip } from "node:zlib";
import { wellFormedJson } from "../../well-formed-json.js";

export interface StoredResult {
  /** Size of the JSON before compression. */
  bytes: number;
  /** In order; at least one. */
  pieces: Buffer[];
}

const COMPRESS_ABOVE = 1024;
/** Size of one Redis command: Redis does nothing else while it runs. */
const PIECE_BYTES = 1024 * 1024;
/** No JSON begins with these two bytes. */
const GZIP = Buffer.from([0x1f, 0x8b]);
/** The fastest level: it saves store memory, and the answer waits for it. */
const LEVEL = constants.Z_BEST_SPEED;

const compress = promisify<Buffer, { level: number }, Buffer>(gzip);
const decompress = promisify<Buffer, Buffer>(gunzip);

/** Compresses on another thread. */
export async function encodeResult(value: unknown): Promise<StoredResult> {
  const json = Buffer.from(wellFormedJson(value), "utf8");
  return { bytes: json.length, pieces: piecesOf(await encodeText(json)) };
}

export async function encodeText(json: Buffer): Promise<Buffer> {
  return json.length > COMPRESS_ABOVE ? compress(json, { level: LEVEL }) : json;
}

/** For a result that comes in parts: only its compressed form is held. Rejects if `parts` does. */
export async function encodeParts(parts: AsyncIterable<Buffer>): Promise<StoredResult> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      bytes += part.length;
      yield part;
    }
  }
  const zip: Transform = createGzip({ level: LEVEL, chunkSize: PIECE_BYTES });
  const source = Readable.from(counted(), { objectMode: false, highWaterMark: 1 });
  source.on("error", (error) => zip.destroy(error));
  const pieces: Buffer[] = [];
  for await (const piece of source.pipe(zip)) pieces.push(piece as Buffer);
  return { bytes, pieces };
}

/** Bytes in the store. */
export function storedBytes({ pieces }: StoredResult): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The JSON text. Small ones are stored uncompressed. */
export async function decodeResult(pieces: readonly Buffer[]): Promise<string> {
  const data = Buffer.concat(pieces);
  const json = data.subarray(0, GZIP.length).equals(GZIP) ? await decompress(data) : data;
  return json.toString("utf8");
}

function piecesOf(data: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(data.length / PIECE_BYTES));
  return Array.from({ length: count }, (_, at) => data.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES));
}
