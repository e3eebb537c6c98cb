/** The result of an outcome as it is stored; one too large for a frame is fetched part by part. */
import { encodeParts, encodeResult, type StoredResult } from "../shared/redis/stored-result.js";
import type { Outcome } from "../shared/wire.js";
import type { EditorCalls } from "./editor-calls.js";

/** Bytes asked for at once: far below a frame's cap, base64 counted. */
const PART_BYTES = 4 * 1024 * 1024;

/** Rejects when the connection ends before the last part: ask for all of it again. */
export async function storedResultOf(
  calls: Pick<EditorCalls, "resultPart">,
  operationId: string,
  { result, resultBytes }: Outcome,
): Promise<StoredResult | undefined> {
  if (resultBytes !== undefined) return encodeParts(partsOf(calls, operationId, resultBytes));
  return result === undefined ? undefined : encodeResult(result);
}

/** One part is here at a time: none is asked for before the last one is compressed. */
async function* partsOf(
  calls: Pick<EditorCalls, "resultPart">,
  operationId: string,
  bytes: number,
): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < bytes; ) {
    const { base64 } = await calls.resultPart(operationId, offset, PART_BYTES);
    const part = Buffer.from(base64, "base64");
    if (part.length === 0) throw new Error(`the Editor has only ${offset} of ${bytes} bytes of the result`);
    yield part;
    offset += part.length;
  }
}
