/** The result of an outcome in its stored form; one too large for a frame is fetched part by part. */

import { wellFormedBytes } from "../../shared/printable.js";
import { encodeParts, encodeResult, type StoredResult } from "../../shared/store/results/stored-result.js";
import { EDITOR_CODES, type Outcome } from "../../shared/wire/wire.js";
import type { EditorCalls } from "../editor/editor-calls.js";
import { refusalOf } from "../editor/refusal.js";

/** Bytes per request: far below a frame's cap, base64 included. */
const PART_BYTES = 4 * 1024 * 1024;

/** Text up to this size is checked to be JSON before it is stored; larger text is only ever read in place, which checks it. */
const CHECKED_BYTES = 8 * 1024 * 1024;

/** The limit on one result's JSON. */
export const MAX_RESULT_BYTES = 256 * 1024 * 1024;

/** The operation has ended, and its result can be taken neither now nor later. */
export class ResultRefused extends Error {
  override readonly name = "ResultRefused";
  readonly type: "result_too_large" | "result_unreadable";

  constructor(type: ResultRefused["type"], message: string) {
    super(message);
    this.type = type;
  }
}

/**
 * Rejects with ResultRefused, or if the connection ends before the last part: then request all of it again. A result
 * larger than `maxBytes` is not requested.
 */
export async function storedResultOf(
  calls: Pick<EditorCalls, "resultPart">,
  operationId: string,
  { result, resultBytes }: Outcome,
  maxBytes: number,
): Promise<StoredResult | undefined> {
  if (resultBytes === undefined) return result === undefined ? undefined : stored(result, maxBytes);
  if (resultBytes > maxBytes) throw tooLarge(resultBytes, maxBytes);
  if (!Number.isSafeInteger(resultBytes) || resultBytes < 1) {
    throw new ResultRefused("result_unreadable", `${resultBytes} is not a size of a result.`);
  }
  const parts = partsOf(calls, operationId, resultBytes);
  return encodeParts(resultBytes > CHECKED_BYTES ? parts : checked(parts));
}

/** The outcome that replaces one whose result cannot be taken. */
export function withoutResult(
  { result: _result, resultBytes: _bytes, ...outcome }: Outcome,
  { type, message }: ResultRefused,
): Outcome {
  const error = outcome.error ?? { type, message: `It ran and ended, but without its result: ${message}` };
  return { ...outcome, error };
}

async function stored(result: unknown, maxBytes: number): Promise<StoredResult> {
  let encoded: StoredResult;
  try {
    encoded = await encodeResult(result);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ResultRefused("result_unreadable", "It nests too deep to be written.");
  }
  if (encoded.bytes > maxBytes) throw tooLarge(encoded.bytes, maxBytes);
  return encoded;
}

/** The same bytes, checked to be JSON. */
async function* checked(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const buffers: Buffer[] = [];
  for await (const part of parts) buffers.push(part);
  const text = Buffer.concat(buffers);
  try {
    JSON.parse(text.toString("utf8"));
  } catch {
    throw new ResultRefused("result_unreadable", "Its parts are not JSON.");
  }
  yield wellFormedBytes(text);
}

/** Holds one part at a time: requests the next only after the last one is compressed. */
async function* partsOf(
  calls: Pick<EditorCalls, "resultPart">,
  operationId: string,
  bytes: number,
): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < bytes; ) {
    const length = Math.min(PART_BYTES, bytes - offset);
    const answer = await calls.resultPart(operationId, offset, length).catch(refuse);
    const part = Buffer.from(answer.base64, "base64");
    const isAsked = answer.offset === offset && answer.total === bytes;
    if (!isAsked || part.length === 0 || part.length > length) {
      throw new ResultRefused(
        "result_unreadable",
        `Of its ${bytes} bytes, ${length} from ${offset} were requested; ${part.length} from ${answer.offset} of ${answer.total} arrived.`,
      );
    }
    yield part;
    offset += part.length;
  }
}

/**
 * The Editor itself refuses to hand out the result, for good. A lost connection or an unreadable ledger is temporary:
 * then the error is passed on, and the Editor is asked again.
 */
function refuse(error: unknown): never {
  const refusal = refusalOf(error);
  if (!refusal || refusal.code === EDITOR_CODES.LEDGER_UNAVAILABLE) throw error;
  throw new ResultRefused("result_unreadable", `The Editor does not hand it out: ${refusal.message}`);
}

function tooLarge(bytes: number, maxBytes: number): ResultRefused {
  const most = `${Math.floor(maxBytes / (1024 * 1024))} MB`;
  return new ResultRefused(
    "result_too_large",
    `It has ${bytes} bytes; the limit is ${most} (UNITY_BROKER_MAX_RESULT_MB).`,
  );
}
