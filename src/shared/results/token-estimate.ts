/** Estimates how many tokens JSON text takes. */

/** Scene JSON (short names, many numbers and quotes) takes about three characters a token; four is a quarter too low. */
const CHARACTERS_PER_TOKEN = 3;

/** An estimate, within a few percent for scene JSON: takes the text, or its length in characters. */
export function estimatedTokens(json: string | number): number {
  return Math.ceil((typeof json === "number" ? json : json.length) / CHARACTERS_PER_TOKEN);
}
