/**
 * Where a client stands in the stream of one request: the ids of the stream's events. An id says all that a gateway needs
 * to go on, so that nothing is stored for it, and any gateway of the store can read it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";

const Id = z.union([z.string().max(200), z.number()]);

const Cursor = z.discriminatedUnion("at", [
  /** The request has arrived. `read`: what can simply be read again; otherwise it may have become an operation. */
  z.object({
    at: z.literal("begun"),
    id: Id,
    stream: z.string().max(40),
    read: z.object({ method: z.string(), params: z.record(z.string(), z.unknown()).optional() }).optional(),
    isTask: z.literal(true).optional(),
    /** Of the operation that the request makes, if it makes one: its own, whatever else was asked for under the same id. */
    logId: z.uuid().optional(),
    timeout: z.union([z.string(), z.number()]).optional(),
    progressToken: Id.optional(),
  }),
  /** It waits for an operation. */
  z.object({
    at: z.literal("operation"),
    id: Id,
    stream: z.string().max(40),
    logId: z.uuid(),
    relation: z.enum(["created", "joined", "replayed"]),
    isConfirmed: z.literal(true).optional(),
    /** How long, seconds, and until when, ms since the epoch on the gateway's clock. */
    seconds: z.number().min(0),
    until: z.number(),
    progressToken: Id.optional(),
  }),
  /** Its answer was sent, or is not wanted. */
  z.object({ at: z.literal("end"), id: Id, stream: z.string().max(40) }),
]);

export type Cursor = z.infer<typeof Cursor>;
export type BegunCursor = Extract<Cursor, { at: "begun" }>;
export type OperationCursor = Extract<Cursor, { at: "operation" }>;

/** Most characters of an id: a header takes it back, and proxies allow few of them. */
const MOST_LENGTH = 2_000;

/** Bytes of the seal: it keeps another session's ids apart, and protects nothing that its client could not ask for. */
const SEAL_BYTES = 9;

/** As an event's id in this session; undefined if it is too long. */
export function writeCursor(sessionId: string, cursor: Cursor): string | undefined {
  const json = JSON.stringify(cursor);
  if (json.length > MOST_LENGTH) return undefined;
  const text = Buffer.from(json).toString("base64url");
  const id = `${text}.${sealOf(sessionId, text).toString("base64url")}`;
  return id.length > MOST_LENGTH ? undefined : id;
}

/** Undefined if it is no id of an event of this session. */
export function readCursor(sessionId: string, id: string): Cursor | undefined {
  const [text = "", seal = ""] = id.split(".");
  const given = Buffer.from(seal, "base64url");
  if (given.length !== SEAL_BYTES || !timingSafeEqual(given, sealOf(sessionId, text))) return undefined;
  try {
    return Cursor.safeParse(JSON.parse(Buffer.from(text, "base64url").toString())).data;
  } catch {
    return undefined;
  }
}

function sealOf(sessionId: string, text: string): Buffer {
  return createHmac("sha256", sessionId).update(text).digest().subarray(0, SEAL_BYTES);
}
