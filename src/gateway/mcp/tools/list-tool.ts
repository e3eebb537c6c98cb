/** `list_operations`: finds a lost log_id, by what was called, when, and from where. */
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import { answerOf, type OperationView } from "../../../shared/operation/answer.js";
import { isFinal, type OperationRecord } from "../../../shared/operation/operation.js";
import { shortened } from "../../../shared/shortened-text.js";
import { wantedBy } from "../../listing-filter.js";
import { type BrokerToolCall, define, UUID } from "./broker-tool.js";

/** Of a call's arguments, characters. */
const MOST_ARGUMENTS = 120;

export const LIST_OPERATIONS = define(
  "list_operations",
  "Lists your operations, newest first. Use it to find a lost log_id, or what still runs.",
  z.object({
    limit: z.int().min(1).max(100).default(10),
    state: z.string().optional().describe("Such as running."),
    tool: z.string().optional(),
    editor: z.string().optional(),
    before: z.string().optional().describe("A log_id: older ones."),
  }),
  { readOnly: true },
  async ({ limit, state, tool, editor, before }, call) => {
    if (before !== undefined && !UUID.test(before))
      throw new BrokerError("INVALID_ARGUMENTS", "before is not a log_id.");
    const isWanted = wantedBy({ state, tool, editor });
    // Not one more than is shown: who lists an operation knows its log_id.
    const views = await call.broker.list(call.principal, limit, { isWanted, before });
    const rows = await Promise.all(views.map((view) => rowOf(view, call)));
    const last = views.at(-1)?.record.logId;
    const isFull = views.length === limit && last !== undefined;
    const more = isFull ? ` Older ones, if there are any: pass before: "${last}".` : "";
    return {
      status: "completed",
      operations: rows,
      ...(isFull ? { next_before: last } : {}),
      message: `${rows.length} operation(s), newest first.${more}`,
    };
  },
);

async function rowOf(view: OperationView, { broker, request, limits }: BrokerToolCall) {
  const { record } = view;
  const mine = request.caller.id;
  const isAnother = record.createdBy.caller !== (mine ?? null);
  const args = await broker.results.argumentsOf(record);
  return {
    ...answerOf(view, { brief: true, mostSeconds: limits.waits.mostSeconds }),
    ...(args === undefined || Object.keys(args).length === 0
      ? {}
      : { arguments: shortened(JSON.stringify(args), MOST_ARGUMENTS) }),
    ...(record.startedAt === undefined ? {} : { started_at: new Date(record.startedAt).toISOString() }),
    ...(record.endedAt === undefined ? {} : { ended_at: new Date(record.endedAt).toISOString() }),
    ...(record.resultBytes === undefined ? {} : { size_kb: Math.round(record.resultBytes / 102.4) / 10 }),
    session: isAnother ? "another" : "this",
    ...cancelledBy(record, mine),
  };
}

/** Nothing of one that nobody asked to cancel, or that completed all the same. */
function cancelledBy(
  { state, cancel, cancelledBy: by, abandonedAt }: OperationRecord,
  mine: string | undefined,
): { cancelled_by?: string } {
  const isAsked = cancel !== undefined && !isFinal(state);
  if (state !== "cancelled" && !isAsked) return {};
  if (by === undefined)
    return { cancelled_by: abandonedAt === undefined ? "the broker" : "its client, which gave the call up" };
  if (by === null) return { cancelled_by: "a request without a session" };
  return { cancelled_by: by === mine ? "this session" : "another session" };
}
