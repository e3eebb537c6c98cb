/** The messages of the WebSocket: what a client sends, each with an id of its own, and what it is answered. */
import { z } from "zod";
import { Call } from "../routes/submit.js";
import { Filter } from "./filter.js";

/** Comes back with the answer. */
export const MessageId = z.union([z.string().max(200), z.number()]);
const id = MessageId.optional();
const logId = z.string().max(200);

export const ClientMessage = z.discriminatedUnion("type", [
  /** `follow`: and from its first event on. */
  Call.extend({ type: z.literal("submit"), id, follow: z.boolean().default(false) }),
  z.strictObject({ type: z.literal("read"), id, log_id: logId, wait: z.number().min(0).optional() }),
  z.strictObject({ type: z.literal("cancel"), id, log_id: logId }),
  /** Without a log_id: everything that the filter names. `after`: the id of the last event that was received. */
  z.strictObject({
    type: z.literal("follow"),
    id,
    log_id: logId.optional(),
    after: z.string().max(200).optional(),
    filter: Filter.optional(),
  }),
  /** The same log_id, or none. */
  z.strictObject({ type: z.literal("unfollow"), id, log_id: logId.optional() }),
]);
export type ClientMessage = z.output<typeof ClientMessage>;

export type ServerMessage =
  /** As the REST API answers the same request. */
  | { type: "answer"; id?: string | number | undefined; status: number; body?: unknown }
  /** `event_id`: for `after`. */
  | { type: "event"; log_id?: string | undefined; event_id?: string; event: string; data: unknown };
