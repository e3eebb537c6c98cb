/** Lines out of chunks, bounded; no sockets. */
import { StringDecoder } from "node:string_decoder";

export interface LineAssembler {
  /** The lines that this chunk completes, without line ends and empty lines; undefined stands for one that is too long. */
  push(chunk: Buffer): (string | undefined)[];
}

/** How a line begins and ends that is too long to be read. */
export interface LongLine {
  head: string;
  tail: string;
}

/** Characters that are kept of each end. */
const ENDS = 1_000;

/**
 * Keeps at most `maxChars` of an unfinished line and skips the rest of a longer one, whose ends `onLong` is told once it is
 * complete.
 */
export function createLineAssembler(maxChars: number, onLong?: (line: LongLine) => void): LineAssembler {
  // A chunk may end inside a character as well as inside a line.
  const decoder = new StringDecoder("utf8");
  let kept = "";
  let long: LongLine | undefined;
  return {
    push(chunk) {
      const lines: (string | undefined)[] = [];
      for (const [at, piece] of decoder.write(chunk).split("\n").entries()) {
        if (at > 0) {
          const line = kept.replace(/\r$/, "");
          if (long) onLong?.(long);
          else if (line !== "") lines.push(line);
          kept = "";
          long = undefined;
        }
        if (long) long.tail = (long.tail + piece).slice(-ENDS);
        else kept += piece;
        if (kept.length <= maxChars) continue;
        lines.push(undefined);
        long = { head: kept.slice(0, ENDS), tail: kept.slice(-ENDS) };
        kept = "";
      }
      return lines;
    },
  };
}
