/** The push channel's lines (docs/protocol.md, "Push channel"): reassembled across chunks, bounded, read; no sockets. */
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

/** What one line says, and the key that a first line carries; undefined if it is no push. */
export function parsePush(line: string): { type: PushType; key: string | undefined } | undefined {
  try {
    const read = Push.safeParse(JSON.parse(line)).data;
    return read && { type: read.type, key: read.payload?.key };
  } catch {
    return undefined;
  }
}

export interface LineAssembler {
  /** The lines that this chunk completes, without their ends and empty ones; undefined stands for one that is too long. */
  push(chunk: Buffer): (string | undefined)[];
}

/** Keeps at most `maxChars` of an unfinished line; the rest of a longer one is skipped unread. */
export function createLineAssembler(maxChars: number): LineAssembler {
  // Characters may be cut in two as well as lines.
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
