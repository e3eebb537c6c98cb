/** How large a value is as JSON text, without writing the text. */

/** Text that stands in JSON as it is, one byte a character. */
const PLAIN = /^[ !#-[\]-~]*$/;

/**
 * UTF-8 bytes of `JSON.stringify(value)`; `value` is made of JSON types only, as JSON.parse answers.
 * Walks without recursion: deep nesting costs memory, never the stack.
 */
export function jsonBytes(value: unknown): number {
  if (typeof value !== "object" || value === null) return scalarBytes(value);
  let bytes = 0;
  const pending: object[] = [value];
  const add = (child: unknown): void => {
    if (typeof child === "object" && child !== null) pending.push(child);
    else bytes += scalarBytes(child);
  };
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (Array.isArray(at)) {
      bytes += 2 + Math.max(0, at.length - 1);
      for (const item of at) add(item);
      continue;
    }
    const keys = Object.keys(at);
    bytes += 2 + Math.max(0, keys.length - 1);
    for (const key of keys) {
      bytes += textBytes(key) + 1;
      add((at as Record<string, unknown>)[key]);
    }
  }
  return bytes;
}

/** Bytes of `"key":value`, without the comma. */
export function memberBytes(key: string, value: unknown): number {
  return textBytes(key) + 1 + jsonBytes(value);
}

function scalarBytes(value: unknown): number {
  if (typeof value === "string") return textBytes(value);
  // JSON.parse makes Infinity of 1e999, and that is written as null.
  if (typeof value === "number") return Number.isFinite(value) ? String(value).length : 4;
  return value === false ? 5 : 4;
}

function textBytes(text: string): number {
  return PLAIN.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
}
