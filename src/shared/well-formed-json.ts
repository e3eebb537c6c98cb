/** JSON text without half a surrogate pair: the APIs of models refuse a request that contains one anywhere. */

/** The JSON text of a value, with U+FFFD for each half of a surrogate pair. */
export function wellFormedJson(value: unknown): string {
  return wellFormed(JSON.stringify(value));
}

/** The same JSON text with U+FFFD, which is as long, for each escape that stands for half a surrogate pair. */
export function wellFormed(json: string): string {
  return /\\ud/i.test(json)
    ? json.replace(ESCAPE, (all, before: string, pair?: string) => (pair ? all : `${before}\\ufffd`))
    : json;
}

/** The same for the bytes of whole JSON texts. */
export function wellFormedBytes({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  const utf8 = Buffer.from(buffer, byteOffset, byteLength);
  // Bytes as characters: only ASCII is looked at, and nothing is decoded.
  const text = utf8.toString("latin1");
  const repaired = wellFormed(text);
  return repaired === text ? utf8 : Buffer.from(repaired, "latin1");
}

/** Behind escaped backslashes, the last of which begins no escape. */
const ESCAPE = /(?<!\\)((?:\\\\)*)(?:(\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2})|\\ud[89a-f][\da-f]{2})/gi;
