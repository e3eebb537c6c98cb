/** The list of operations, newest first, in pages that stay correct while operations come. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import type { OperationView } from "../../../shared/operation/answer.js";
import { wantedBy } from "../../listing-filter.js";
import { UUID } from "../../mcp/tools/broker-tool.js";
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
  state: z.string().optional().describe("Such as running."),
  tool: z.string().optional(),
  editor: z.string().optional().describe("As a call names it."),
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
  }),
);

export function listRoutes(app: FastifyInstance, { broker, exchanges }: RouteDeps): void {
  addRoute(app, exchanges, {
    method: "GET",
    url: "/operations",
    summary: "Lists operations, newest first",
    tag: "operations",
    query: Query,
    answers: { 200: json("A page of them.", Page) },
    async handle({ query: { limit, cursor, since, until, ...filter } }, { principal }) {
      if (cursor !== undefined && !UUID.test(cursor))
        throw new BrokerError("INVALID_ARGUMENTS", "The cursor is not one of an earlier page.");
      const isWanted = wantedBy({ ...filter, since: msOf(since), until: msOf(until) });
      const views = await broker.list(principal.id, limit, { isWanted, before: cursor });
      const last = views.at(-1)?.record.logId;
      const next = views.length === limit && last !== undefined ? { next: last } : {};
      return { status: 200, body: { operations: views.map(rowOf), ...next }, headers: NOT_KEPT };
    },
  });
}

const msOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text);

function rowOf({ record, progress, queuePosition }: OperationView): z.input<typeof Row> {
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
    state,
    ...(Object.fromEntries(told) as { accepted_at: string }),
    ...(executionMs === undefined ? {} : { execution_ms: executionMs }),
    ...(createdBy.client === undefined ? {} : { client: createdBy.client }),
    ...(progress === undefined ? {} : { progress }),
    ...(queuePosition === undefined ? {} : { queue_position: queuePosition }),
    ...(error === undefined ? {} : { error }),
  } as z.input<typeof Row>;
}
