/** A partial result in an answer: whole if it is small, else what it looks like, and how to read more of it. */
import { type Preview, previewOf } from "./preview.js";

/** Most characters of one that an answer has whole. */
const WHOLE = 2_000;

export interface PartialForm {
  partial_result?: unknown;
  partial_preview?: Preview;
  partial_hint?: string;
}

export function partialForm(partial: unknown): PartialForm {
  const text = JSON.stringify(partial);
  if (text.length <= WHOLE) return { partial_result: partial };
  return {
    partial_preview: previewOf(Buffer.from(text)),
    partial_hint:
      "What there is so far is read with fetch_cached_response and this log_id, by page, jq or fields.",
  };
}
