/** The list of operations, newest first, in pages that stay correct while operations come. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import type { ListCursor } from "../../../shared/store/operations/all-operations.js";
import { wantedBy } from "../../listing-filter.js";
import { UUID } from "../../mcp/tools/broker-tool.js";
import type { ListedOperation } from "../../operator-verbs/operations.js";
import { nameField, namesOf } from "../principal-names.js";
import { NOT_KEPT } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { Row } from "../schemas/answer.js";
import { named } from "../schemas/described.js";
import type { RouteDeps } from "./submit.js";

const time = z.iso
  .datetime({ offset: true })
  .optional()
  .describe("A time of ISO 8601, such as 2027-01-31T12:00:00Z.");

const Query = z.strictObject({
  state: z.string().optional().describe("Such as running; several with commas between them."),
  tool: z.string().optional(),
  editor: z.string().optional().describe("As a call names it."),
  principal: z
    .string()
    .max(200)
    .optional()
    .describe("Whose: an id, or * for everybody. Others' operations require the role operate."),
  client: z.string().optional().describe("What the calling client calls itself, or its beginning."),
  since: time.describe("Accepted then or later."),
  until: time.describe("Accepted before."),
  q: z.string().max(200).optional().describe("A text in its log_id, tool, Editor, client or error."),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().optional().describe("`next` of the page before."),
});

const Page = named(
  "OperationPage",
  z.strictObject({
    operations: z.array(Row),
    next: z.string().optional().describe("The cursor of older ones, if there may be any."),
    searched: z.int().describe("How many were looked at: a page ends after 5 000."),
  }),
);

export function listRoutes(app: FastifyInstance, { broker, exchanges, principals }: RouteDeps): void {
  addRoute(app, exchanges, {
    method: "GET",
    url: "/operations",
    summary: "Lists operations, newest first",
    tag: "operations",
    query: Query,
    answers: { 200: json("A page of them.", Page) },
    errors: ["FORBIDDEN"],
    async handle({ query: { limit, cursor, since, until, principal, ...filter } }, call) {
      const { operations, next, searched } = await broker.operate.list(call.principal.id, {
        principal,
        isWanted: wantedBy(filter),
        since: msOf(since),
        // Before, and not at that time.
        until: until === undefined ? undefined : Date.parse(until) - 1,
        limit,
        cursor: cursor === undefined ? undefined : cursorIn(cursor),
      });
      const names = await namesOf(
        principals,
        operations.map(({ view }) => view.record.principal),
      );
      const older = next === undefined ? {} : { next: `${next.acceptedAt}.${next.logId}` };
      return {
        status: 200,
        body: {
          operations: operations.map((row) => rowOf(row, names)),
          ...older,
          searched,
        },
        headers: NOT_KEPT,
      };
    },
  });
}

/** Throws INVALID_ARGUMENTS. */
function cursorIn(text: string): ListCursor {
  const [, acceptedAt = "", logId = ""] = /^(\d{1,16})\.([^.]+)$/.exec(text) ?? [];
  if (UUID.test(logId)) return { acceptedAt: Number(acceptedAt), logId };
  throw new BrokerError("INVALID_ARGUMENTS", "The cursor is not one of an earlier page.");
}

const msOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);

export function rowOf(
  { view, duplicates }: ListedOperation,
  names: ReadonlyMap<string, string>,
): z.input<typeof Row> {
  const { record, progress, queuePosition } = view;
  const { logId, tool, editor, pool, principal, state, executionMs, createdBy, error } = record;
  const times = {
    accepted_at: record.acceptedAt,
    sent_at: record.dispatchedAt,
    started_at: record.startedAt,
    ended_at: record.endedAt,
  };
  const told = Object.entries(times).flatMap(([name, at]) =>
    at === undefined ? [] : [[name, new Date(at).toISOString()]],
  );
  return {
    log_id: logId,
    tool,
    editor,
    ...(pool === undefined ? {} : { pool }),
    principal,
    ...nameField(names, principal),
    state,
    ...(Object.fromEntries(told) as { accepted_at: string }),
    ...(executionMs === undefined ? {} : { execution_ms: executionMs }),
    ...(createdBy.client === undefined ? {} : { client: createdBy.client }),
    ...(progress === undefined ? {} : { progress }),
    ...(queuePosition === undefined ? {} : { queue_position: queuePosition }),
    ...(duplicates === 0 ? {} : { duplicates }),
    ...(error === undefined ? {} : { error }),
  } as z.input<typeof Row>;
}
