/**
 * Results that do not fit into a frame: the outcome then carries `resultBytes` in place of `result`, and
 * `operation/result` hands out the UTF-8 JSON in parts (base64, so that a part may end inside a character).
 */
import type { Outcome } from "../shared/wire.js";
import type { LedgerOperation } from "./journal-entry.js";

export interface LargeResults {
  /** The outcome as it may travel. */
  fit(outcome: Outcome): Outcome;
  part(
    operation: LedgerOperation | undefined,
    offset: number,
    length: number,
  ): { offset: number; total: number; base64: string } | undefined;
}

export function createLargeResults(options: { inlineResultBytes: number }): LargeResults {
  /** Parts are asked for one after the other: the last outcome's text is kept while it is wanted. */
  let last: { result: unknown; bytes: Buffer } | undefined;
  const encode = (outcome: Outcome): Buffer => {
    if (last?.result === undefined || last.result !== outcome.result)
      last = { result: outcome.result, bytes: Buffer.from(JSON.stringify(outcome.result ?? null), "utf8") };
    return last.bytes;
  };
  return {
    fit(outcome) {
      const bytes = encode(outcome).length;
      if (bytes <= options.inlineResultBytes) return outcome;
      const { result: _result, ...rest } = outcome;
      return { ...rest, resultBytes: bytes };
    },
    part(operation, offset, length) {
      if (operation?.outcome?.result === undefined) return undefined;
      const bytes = encode(operation.outcome);
      // A part must fit into a frame itself, whatever was asked for; base64 grows it by a third.
      const size = Math.min(length, options.inlineResultBytes);
      return {
        offset,
        total: bytes.length,
        base64: bytes.subarray(offset, offset + size).toString("base64"),
      };
    },
  };
}
