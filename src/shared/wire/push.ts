/** The push channel's messages (docs/reference/protocol.md, "Push channel"), a line each (rpc.ts). */
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
