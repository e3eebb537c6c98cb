/** Idempotency hash (▲3): two calls are the same call exactly when their hashes are equal. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { head } from "../shortened-text.js";

export type JsonObject = Record<string, unknown>;

/** SHA-256 (hex) of {tool, arguments}: the request itself, regardless of the caller. */
export function fingerprintOf(tool: string, args: JsonObject): string {
  return sha256({ tool, arguments: args });
}

/**
 * Idempotency hash (▲3): the hash of a call: over the request and its caller or, with an idempotency key, over the key
 * only. Excludes the target.
 */
export function hashOf(call: {
  principal: string;
  tool: string;
  arguments: JsonObject;
  key?: string;
}): string {
  return call.key === undefined
    ? sha256({ principal: call.principal, tool: call.tool, arguments: call.arguments })
    : sha256({ principal: call.principal, key: call.key });
}

/** Canonical JSON by RFC 8785: key order and number spelling do not matter. */
function sha256(value: JsonObject): string {
  return createHash("sha256")
    .update(canonicalize(value) ?? "")
    .digest("hex");
}

const MAX_DEPTH = 200;

/** Why arguments cannot be hashed safely, and the JSON path of the value. */
export type Unhashable = {
  code: "INTEGER_TOO_LARGE" | "ARGUMENTS_TOO_DEEP" | "INVALID_ARGUMENTS";
  path: string;
};

/** Half a surrogate pair, as in a text that was cut within an emoji, has no UTF-8, and so no canonical form. */
export const hasHalfCharacter = (text: string): boolean => /\p{Surrogate}/u.test(text);

/**
 * Idempotency hash (▲3): finds values that would give two different calls one hash, have no canonical form, or overflow
 * the stack there. Integers beyond 2^53 have already lost digits when they are parsed. No recursion: input may
 * nest 100 000 deep.
 */
export function findUnhashable(args: JsonObject): Unhashable | undefined {
  const pending: { value: unknown; path: string; depth: number }[] = [{ value: args, path: "", depth: 0 }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { value, path, depth } = at;
    if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      return { code: "INTEGER_TOO_LARGE", path };
    }
    // 1e400 is parsed as infinity.
    const isUnwritable =
      typeof value === "string"
        ? hasHalfCharacter(value)
        : typeof value === "number" && !Number.isFinite(value);
    if (isUnwritable) return { code: "INVALID_ARGUMENTS", path: head(path, 80) };
    if (typeof value !== "object" || value === null) continue;
    if (depth >= MAX_DEPTH) return { code: "ARGUMENTS_TOO_DEEP", path: head(path, 80) };
    for (const [key, child] of Object.entries(value)) {
      if (hasHalfCharacter(key)) return { code: "INVALID_ARGUMENTS", path: head(path, 80) || "/" };
      pending.push({ value: child, path: `${path}/${key}`, depth: depth + 1 });
    }
  }
  return undefined;
}
