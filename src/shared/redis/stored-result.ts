/** What a result is in the store: its JSON in UTF-8, compressed where that is worth it. */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

export interface StoredResult {
  /** Of the JSON, before compression. */
  bytes: number;
  data: Buffer;
}

const COMPRESS_ABOVE = 1024;
/** No JSON begins with these two bytes. */
const GZIP = Buffer.from([0x1f, 0x8b]);
/** The fastest: the store's memory is the point, and the answer waits for it. */
const LEVEL = 1;

const compress = promisify<Buffer, { level: number }, Buffer>(gzip);
const decompress = promisify<Buffer, Buffer>(gunzip);

/** Compresses on another thread. */
export async function encodeResult(value: unknown): Promise<StoredResult> {
  const json = Buffer.from(JSON.stringify(value), "utf8");
  return { bytes: json.length, data: await encodeText(json) };
}

export async function encodeText(json: Buffer): Promise<Buffer> {
  return json.length > COMPRESS_ABOVE ? compress(json, { level: LEVEL }) : json;
}

/** The JSON text; also of results that an earlier version stored as they are. */
export async function decodeResult(data: Buffer): Promise<string> {
  const json = data.subarray(0, GZIP.length).equals(GZIP) ? await decompress(data) : data;
  return json.toString("utf8");
}
