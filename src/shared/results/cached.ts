/** The answer in place of a result that is too large for the caller's context. */
import type { Preview } from "./preview.js";
import { estimatedTokens } from "./token-estimate.js";

/** Estimated tokens. Common clients give up at 25 000. */
export const MAX_RESULT_TOKENS = 20_000;

export interface CachedForm {
  cached: true;
  /** For a stored result: its log_id. */
  cache_id: string;
  size_kb: number;
  /** Estimated from its length. */
  estimated_tokens: number;
  usage_hint: string;
  preview?: Preview;
}

/** `bytes`: size of its JSON. */
export function cachedForm(cacheId: string, bytes: number, preview: Preview | undefined): CachedForm {
  return {
    cached: true,
    cache_id: cacheId,
    size_kb: Math.round(bytes / 102.4) / 10,
    estimated_tokens: estimatedTokens(bytes),
    usage_hint: hintFor(preview),
    ...(preview === undefined ? {} : { preview }),
  };
}

export function isTooLarge(bytes: number, maxTokens: number): boolean {
  return estimatedTokens(bytes) > maxTokens;
}

function hintFor(preview: Preview | undefined): string {
  const list = preview?.list;
  const items = list === undefined ? ".[]" : `.${list}[]`;
  const field = Object.keys(preview?.item_fields ?? {})[0] ?? "name";
  return `Read it with fetch_cached_response and this log_id: page reads its pages, jq (such as "${items}.${field}") or fields, limit and offset a part. Nothing is executed again.`;
}
