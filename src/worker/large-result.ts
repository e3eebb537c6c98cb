/** Fetches a result that is too large for one frame, part by part. */
import type { Outcome } from "../shared/wire.js";
import type { EditorCalls } from "./editor-calls.js";

/** Bytes asked for at once: far below a frame's cap, base64 counted. */
const PART_BYTES = 4 * 1024 * 1024;

/** The outcome with its result; rejects when the connection ends before the last part: ask for all of it again. */
export async function wholeOutcome(
  calls: Pick<EditorCalls, "resultPart">,
  operationId: string,
  outcome: Outcome,
): Promise<Outcome> {
  const { resultBytes, ...rest } = outcome;
  if (resultBytes === undefined) return outcome;
  const parts: Buffer[] = [];
  for (let offset = 0; offset < resultBytes; ) {
    const { base64 } = await calls.resultPart(operationId, offset, PART_BYTES);
    const part = Buffer.from(base64, "base64");
    if (part.length === 0)
      throw new Error(`the Editor has only ${offset} of ${resultBytes} bytes of the result`);
    parts.push(part);
    offset += part.length;
  }
  return { ...rest, result: JSON.parse(Buffer.concat(parts).toString("utf8")) as unknown } as Outcome;
}
