/** Server-sent events: of everything that a principal may see, and of one operation. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { BrokerError, type ErrorCode } from "../../../shared/errors.js";
import { openEventStream } from "../../events/event-stream.js";
import type { LiveEvent } from "../../events/live-event.js";
import { ById } from "../routes/read.js";
import { problems } from "../schemas/problem.js";
import { type FollowDeps, followedEvents, followedOperation, type Reader } from "./followed.js";

export interface EventRoutesDeps extends FollowDeps {
  /** Aborted when the gateway closes. */
  closing: AbortSignal;
  keepAliveMs: number;
}

const after = z
  .string()
  .optional()
  .describe("The id of the last event that was received, as the header Last-Event-ID has it.");

const EVERYWHERE: readonly ErrorCode[] = [
  "UNAUTHORIZED",
  "ADDRESS_REFUSED",
  "RATE_LIMITED",
  "TOKENS_UNREADABLE",
  "INVALID_ARGUMENTS",
];

const stream = (codes: readonly ErrorCode[]) => ({
  200: {
    description: "Events, until the client ends it.",
    content: { "text/event-stream": { schema: z.string() } },
  },
  ...problems([...EVERYWHERE, ...codes]),
});

export function eventRoutes(app: FastifyInstance, deps: EventRoutesDeps): void {
  /** The answer has begun: what goes wrong now ends it, and the client goes on from the last event. */
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    follow: (reader: Reader) => AsyncIterable<LiveEvent>,
  ): Promise<FastifyReply> => {
    const from = placeIn(request);
    const passing = { passed: (_id: string): void => undefined };
    const ended = new AbortController();
    // What it refuses is a problem, not a stream.
    const events = follow({ from, signal: ended.signal, passed: (id) => passing.passed(id) });
    reply.hijack();
    const written = openEventStream(reply.raw, deps.closing, deps);
    passing.passed = written.passed;
    written.signal.addEventListener("abort", () => ended.abort(), { once: true });
    if (written.signal.aborted) ended.abort();
    await written.write(events).catch(() => reply.raw.destroy());
    return reply;
  };

  app.get<{ Querystring: z.output<typeof Filter> & { after?: string } }>("/events", {
    exposeHeadRoute: false,
    schema: {
      summary: "What happens to operations, as it happens",
      description: "Events `operation`, `progress` and `editors`; after a `gap` read again what you show.",
      tags: ["live"],
      querystring: Filter.extend({ after }),
      response: stream(["FORBIDDEN"]),
    },
    handler: async (request, reply) => {
      const { after: _after, ...filter } = request.query;
      return send(request, reply, followedEvents(deps, request.identity.principal, filter));
    },
  });

  app.get<{ Params: { id: string }; Querystring: { after?: string } }>("/operations/:id/events", {
    exposeHeadRoute: false,
    schema: {
      summary: "What happens to one operation, until it has ended",
      description:
        "Events `snapshot`, `operation`, `progress`, `partial`, `log`, and `ended` as the last one.",
      tags: ["live"],
      params: ById,
      querystring: z.strictObject({ after }),
      response: {
        204: z.null().describe("The operation's end was received before."),
        ...stream(["NOT_FOUND", "STORE_UNAVAILABLE"]),
      },
    },
    handler: async (request, reply) => {
      const { principal } = request.identity;
      const followed = await followedOperation(deps, principal, request.params.id, placeIn(request));
      // A browser's EventSource connects again after every end but this one.
      if (followed.kind === "over") return reply.code(204).send();
      return send(request, reply, followed.follow);
    },
  });
}

function placeIn({ headers, query }: FastifyRequest): string | undefined {
  const header = headers["last-event-id"];
  if (Array.isArray(header)) throw new BrokerError("INVALID_ARGUMENTS", "Last-Event-ID is sent once.");
  return header ?? (query as { after?: string }).after;
}

// Which events a client asks for.

export const Filter = z.strictObject({
  tool: z.string().optional(),
  editor: z.string().optional().describe("As a call names it."),
  state: z.string().optional().describe("Such as running."),
  principal: z.string().optional().describe('Another\'s id, or * for everybody: the role "operate".'),
});
