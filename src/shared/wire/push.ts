/** The push channel's lines (docs/reference/protocol.md, "Push channel"): reassembled across chunks, bounded, read; no sockets. */
import { StringDecoder } from "node:string_decoder";
import { z } from "zod";

const PUSH_TYPES = [
  "CONNECTION_ESTABLISHED",
  "DOMAIN_RELOAD",
  "DOMAIN_RELOAD_RECOVERED",
  "TOOLS_CHANGED",
  "USER_DISCONNECT",
  "UNITY_SHUTDOWN",
] as const;
export type PushType = (typeof PUSH_TYPES)[number];

const Push = z.looseObject({
  type: z.enum(PUSH_TYPES),
  payload: z.looseObject({ key: z.string().optional() }).optional().catch(undefined),
});

/** The content of one line, and the key that a first line carries; undefined if it is not a push message. */
export function parsePush(line: string): { type: PushType; key: string | undefined } | undefined {
  try {
    const read = Push.safeParse(JSON.parse(line)).data;
    return read && { type: read.type, key: read.payload?.key };
  } catch {
    return undefined;
  }
}

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
