/**
 * What the Console says while an operation runs, for programs that show it to people: asked for and answered in MCP's `_meta`,
 * so that no tool has a parameter more and no model reads a line of it.
 */
import { z } from "zod";
import type { BrokerToolCall } from "./broker-tool.js";
import { LOG, LOG_AFTER } from "./log-meta.js";

const After = z.int().nonnegative();

/**
 * Attaches the lines after the one that was asked for, if the operation is the caller's. Call it after the operation was
 * read: then an answer with the end has all that came before the end.
 */
export async function attachLog(
  logId: string,
  { broker, principal, meta, attach }: BrokerToolCall,
): Promise<void> {
  const after = After.safeParse(meta[LOG_AFTER]);
  if (!after.success) return;
  const log = await broker.log(principal, logId, after.data);
  if (log) attach(LOG, log);
}
