const CODE = (character: string): number => character.charCodeAt(0);
const OPENS = [CODE("{"), CODE("[")];

/**
 * Heap bytes that JSON.parse of this text needs at most, by what it is made of: one pass over its bytes.
 *
 * It is asked before parsing because a thread whose heap is full is not always ended alone: V8 may end the process
 * (seen with Node 20, one large array in a small heap). Inside of strings it counts too much, which is the safe side.
 */
export function parseCost(text: Uint8Array): number {
  const count = new Uint32Array(256);
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    count[byte] = (count[byte] ?? 0) + 1;
  }
  const of = (code: number): number => count[code] ?? 0;
  const containers = OPENS.reduce((sum, code) => sum + of(code), 0);
  // The text as a string, perhaps of two bytes a character, and as much again for the strings cut out of it. A slot
  // and a number for every element, a hidden class's entry for every field, a header for every string.
  return 4 * text.length + 96 * containers + 24 * of(CODE(",")) + 96 * of(CODE(":")) + 16 * of(CODE('"'));
}
