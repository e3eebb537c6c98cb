/** One operation: its answer, its history, what the Console said, and its cancellation. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { answerOf, notFound, type OperationView } from "../../../shared/operation/answer.js";
import { callsOf, timelineOf, whyOnce } from "../../../shared/operation/timeline.js";
import { head } from "../../../shared/printable.js";
import type { ReportTimes } from "../../../shared/store/operations/operation-store.js";
import type { DeliveredOperation } from "../../exchange.js";
import type { OpenRequest } from "../../mcp/request-tracker.js";
import { UUID } from "../../mcp/tools/broker-tool.js";
import type { Explained } from "../../views.js";
import type { RestCall } from "../exchange.js";
import { operationAnswer } from "../operation-answer.js";
import { ownToolOf } from "../own-tool.js";
import { nameField, namesOf } from "../principal-names.js";
import { problemOf } from "../problem.js";
import { NOT_KEPT, type RestAnswer, revalidated } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { ConsoleLog, History, Operation } from "../schemas/answer.js";
import type { RouteDeps } from "./submit.js";

// What the history of an operation says besides its timeline: what a row of the list says, and the calls that it answers.

function historyFacts({ record, duplicates, reports }: Explained): Record<string, unknown> {
  const { effect, executionMs, error } = record;
  const times = {
    accepted_at: record.acceptedAt,
    sent_at: record.dispatchedAt,
    started_at: record.startedAt,
    ended_at: record.endedAt,
  };
  return {
    calls: callsOf(record, duplicates),
    ...(reports.progress || reports.partial
      ? { reports: { progress: shown(reports.progress), partial: shown(reports.partial) } }
      : {}),
    effect,
    ...Object.fromEntries(
      Object.entries(times).flatMap(([name, at]) =>
        at === undefined ? [] : [[name, new Date(at).toISOString()]],
      ),
    ),
    ...(executionMs === undefined ? {} : { execution_ms: executionMs }),
    ...(error === undefined ? {} : { error }),
  };
}

/** Undefined leaves it out. */
function shown(times: ReportTimes | undefined): Record<string, unknown> | undefined {
  return (
    times && {
      first_at: new Date(times.first).toISOString(),
      last_at: new Date(times.last).toISOString(),
      count: times.count,
    }
  );
}

export const ById = z.strictObject({ id: z.string().max(200).describe("A log_id.") });

const seconds = z.coerce.number().min(0).optional();

export function readRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { broker, exchanges, principals } = deps;
  const run = ownToolOf(deps);
  const read = {
    method: "GET",
    params: ById,
    query: z.strictObject({
      wait: seconds.describe("Seconds to wait for its end."),
      timeout: seconds.describe("The same."),
      look: z
        .stringbool()
        .default(false)
        .describe("For a person who looks: nothing counts as delivered or read."),
    }),
    answers: {
      200: json("As it is now, or as it ended.", Operation),
      304: z.null().describe("It has ended, and the client has its answer."),
    },
    errors: ["NOT_FOUND"],
  } as const;
  const readIt = async (
    { params: { id }, query }: { params: z.output<typeof ById>; query: z.output<typeof read.query> },
    call: RestCall,
  ): Promise<RestAnswer> => {
    if (query.look) return looked(call, id);
    const wait = query.wait ?? query.timeout;
    const waiting = wait === undefined ? {} : { wait: true, timeout: wait };
    let carried: DeliveredOperation | undefined;
    const request: OpenRequest = {
      ...call.request,
      delivers(operation) {
        carried = operation;
      },
    };
    const answer = await run("get_operation_result", { log_id: id, ...waiting }, { ...call, request });
    const answered = revalidated(operationAnswer(answer), call.ifNoneMatch);
    if (answered.status === 404) return (await ofOperator(call, id)) ?? answered;
    // What a client has already is not delivered to it again.
    if (carried && answered.status !== 304) call.request.delivers(carried);
    return answered;
  };
  const looked = async (call: RestCall, id: string): Promise<RestAnswer> => {
    const seen = UUID.test(id) ? await broker.look(call.principal.id, id) : undefined;
    if (typeof seen === "object") return operationAnswer(answerOf(seen));
    return (await ofOperator(call, id)) ?? problemOf(notFound(head(id, 100), seen === "retention_ended"));
  };
  /** Of another's operation an operator sees that it is, and how it is. */
  const ofOperator = async ({ principal }: RestCall, id: string): Promise<RestAnswer | undefined> => {
    const seen = UUID.test(id) ? await broker.operate.read(principal.id, id) : undefined;
    return typeof seen === "object" ? briefAnswer(seen) : undefined;
  };
  const explained = async (principal: string, id: string) => {
    const own = await broker.explain(principal, id);
    return own ?? (await broker.operate.explain(principal, id));
  };
  addRoute(app, exchanges, {
    ...read,
    url: "/operations/:id",
    summary: "Reads an operation",
    tag: "operations",
    handle: readIt,
  });
  addRoute(app, exchanges, {
    ...read,
    url: "/tasks/:id",
    summary: "The same as GET /operations/{id}",
    tag: "other names",
    handle: readIt,
  });
  addRoute(app, exchanges, {
    method: "POST",
    url: "/operations/:id/cancel",
    summary: "Cancels an operation that waits, or asks the Editor to end one that runs",
    tag: "operations",
    params: ById,
    answers: { 200: json("As it is afterwards.", Operation) },
    errors: ["NOT_FOUND"],
    async handle({ params: { id } }, call) {
      const answered = operationAnswer(await run("cancel_operation", { log_id: id }, call));
      if (answered.status !== 404 || !UUID.test(id)) return answered;
      const seen = await broker.operate.cancel(call.principal.id, id);
      return typeof seen === "object" ? briefAnswer(seen) : answered;
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/operations/:id/history",
    summary: "What happened to an operation, and why it ran once",
    tag: "operations",
    params: ById,
    answers: { 200: json("Its history.", History) },
    errors: ["NOT_FOUND"],
    handle: async ({ params: { id } }, call) => {
      if (UUID.test(id)) await call.request.names(id);
      const seen = UUID.test(id) ? await explained(call.principal.id, id) : undefined;
      if (typeof seen !== "object") return problemOf(notFound(head(id, 100), seen === "retention_ended"));
      const { principal: whose } = seen.record;
      const name = nameField(await namesOf(principals, [whose]), whose);
      return { status: 200, body: { ...historyOf(seen), ...name }, headers: NOT_KEPT };
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/operations/:id/log",
    summary: "What the Unity Console said while it ran",
    tag: "operations",
    params: ById,
    query: z.strictObject({ after: z.coerce.number().int().min(0).default(0) }),
    answers: { 200: json("At most 200 lines, oldest first.", ConsoleLog) },
    errors: ["NOT_FOUND"],
    handle: async ({ params: { id }, query: { after } }, { principal, request }) => {
      const read = await broker.log(principal.id, id, after);
      if (!read) return problemOf(notFound(id, false));
      await request.names(id);
      return { status: 200, body: read, headers: NOT_KEPT };
    },
  });
}

/** Without what was passed, came back, or was written meanwhile. */
function briefAnswer(view: OperationView): RestAnswer {
  const { evidence: _log, ...answer } = answerOf(view, { brief: true });
  return { status: 200, body: answer, headers: NOT_KEPT };
}

function historyOf(seen: Explained): z.input<typeof History> {
  const { record, duplicates } = seen;
  const { logId, tool, editor, pool, principal, state, createdBy } = record;
  return {
    log_id: logId,
    tool,
    editor,
    ...(pool === undefined ? {} : { pool }),
    state,
    principal,
    ...(createdBy.client === undefined ? {} : { client: createdBy.client }),
    ...historyFacts(seen),
    timeline: timelineOf(record, duplicates),
    why_once: whyOnce(record, duplicates),
  };
}
