/** Idempotency hash (▲3): two calls are the same call exactly when their hashes are equal. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { head } from "../printable.js";

export type JsonObject = Record<string, unknown>;

/** A call and, if it has one, its idempotency key. */
interface HashedCall {
  principal: string;
  tool: string;
  arguments: JsonObject;
  key?: string;
}

/**
 * `hash`, the idempotency hash (▲3): over the request and its caller or, with an idempotency key, over the key only. Excludes the
 * target. `fingerprint`: over the request itself, regardless of the caller. Both are of canonical JSON (RFC 8785): key order and number
 * spelling do not matter. The arguments, which may be long, are written once.
 */
export function hashesOf({ principal, tool, arguments: args, key }: HashedCall): {
  hash: string;
  fingerprint: string;
} {
  const begin = `{"arguments":${canonical(args)},`;
  const end = `"tool":${canonical(tool)}}`;
  const call = `${begin}"principal":${canonical(principal)},${end}`;
  return {
    hash: sha256(key === undefined ? call : canonical({ principal, key })),
    fingerprint: sha256(begin + end),
  };
}

function canonical(value: unknown): string {
  return canonicalize(value) ?? "";
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const MAX_DEPTH = 200;

/** Why arguments cannot be hashed safely, and the JSON path of the value. */
export type Unhashable = {
  code: "INTEGER_TOO_LARGE" | "ARGUMENTS_TOO_DEEP" | "INVALID_ARGUMENTS";
  path: string;
};

/** Half a surrogate pair, as in a text that was cut within an emoji, has no UTF-8, and so no canonical form. */
export const hasHalfCharacter = (text: string): boolean => !text.isWellFormed();

/**
 * Idempotency hash (▲3): finds values that would give two different calls one hash, have no canonical form, or overflow
 * the stack there. Integers beyond 2^53 have already lost digits when they are parsed.
 */
export function findUnhashable(args: JsonObject): Unhashable | undefined {
  const found = unhashableIn(args, 0);
  return found && { code: found.code, path: head(found.path, 200) || "/" };
}

/** The path is made on the way back, so that only a refusal pays for it. */
function unhashableIn(value: unknown, depth: number): Unhashable | undefined {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { code: "INTEGER_TOO_LARGE", path: "" };
  }
  // 1e400 is parsed as infinity.
  const isUnwritable =
    typeof value === "string"
      ? hasHalfCharacter(value)
      : typeof value === "number" && !Number.isFinite(value);
  if (isUnwritable) return { code: "INVALID_ARGUMENTS", path: "" };
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { code: "ARGUMENTS_TOO_DEEP", path: "" };
  for (const [key, child] of Object.entries(value)) {
    if (hasHalfCharacter(key)) return { code: "INVALID_ARGUMENTS", path: "" };
    const found = unhashableIn(child, depth + 1);
    if (found) return { code: found.code, path: `/${key}${found.path}` };
  }
  return undefined;
}
