/** Lines out of chunks, bounded; no sockets. */
import { StringDecoder } from "node:string_decoder";

export interface LineAssembler {
  /** The lines that this chunk completes, without line ends and empty lines; undefined stands for one that is too long. */
  push(chunk: Buffer): (string | undefined)[];
}

/** Keeps at most `maxChars` of an unfinished line and skips the rest of a longer one. */
export function createLineAssembler(maxChars: number): LineAssembler {
  // A chunk may end inside a character as well as inside a line.
  const decoder = new StringDecoder("utf8");
  let kept = "";
  let skipping = false;
  return {
    push(chunk) {
      const lines: (string | undefined)[] = [];
      for (const [at, piece] of decoder.write(chunk).split("\n").entries()) {
        if (at > 0) {
          const line = kept.replace(/\r$/, "");
          if (line !== "") lines.push(line);
          kept = "";
          skipping = false;
        }
        if (skipping) continue;
        kept += piece;
        if (kept.length <= maxChars) continue;
        lines.push(undefined);
        kept = "";
        skipping = true;
      }
      return lines;
    },
  };
}
