/** One route of the REST API: its schemas, which the document shows and requests are checked against, and its handler. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { ErrorCode } from "../../shared/errors.js";
import type { RestCall, RestExchanges } from "./exchange.js";
import type { RestAnswer } from "./rest-answer.js";
import { type DescribedAnswer, problems } from "./schemas/problem.js";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Route<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  method: "GET" | "POST" | "DELETE";
  url: string;
  summary: string;
  description?: string;
  tag: string;
  params?: P;
  query?: Q;
  body?: B;
  /** Headers that it reads, for the document. */
  headers?: z.ZodObject;
  /** By status. */
  answers: Record<number, DescribedAnswer | z.ZodNull>;
  /** Beyond those of every route. */
  errors?: readonly ErrorCode[];
  /** False: its answer needs nothing from the store. */
  readsStore?: boolean;
  handle(
    input: { params: z.output<P>; query: z.output<Q>; body: z.output<B>; headers: Headers },
    call: RestCall,
  ): Promise<RestAnswer>;
}

/** Of every route, before its handler is asked; each refuses what it does not know. */
const EVERYWHERE = [
  "INVALID_ARGUMENTS",
  "UNAUTHORIZED",
  "ADDRESS_REFUSED",
  "RATE_LIMITED",
  "TOKENS_UNREADABLE",
] as const;

const NOTHING = z.strictObject({});

export function json(description: string, schema: z.ZodType): DescribedAnswer {
  return { description, content: { "application/json": { schema } } };
}

export function addRoute<
  P extends z.ZodType = typeof NOTHING,
  Q extends z.ZodType = typeof NOTHING,
  B extends z.ZodType = z.ZodUndefined,
>(app: FastifyInstance, exchanges: RestExchanges, route: Route<P, Q, B>): void {
  const { method, url, summary, description, tag, params, body, headers } = route;
  const query = route.query ?? NOTHING;
  const codes: ErrorCode[] = [
    ...EVERYWHERE,
    ...(route.readsStore === false ? [] : (["STORE_UNAVAILABLE"] as const)),
    ...(route.errors ?? []),
  ];
  app.route({
    method,
    url,
    exposeHeadRoute: false,
    schema: {
      summary,
      ...(description === undefined ? {} : { description }),
      tags: [tag],
      querystring: query,
      ...(params === undefined ? {} : { params }),
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
      response: { ...route.answers, ...problems([...new Set(codes)]) },
    },
    handler: (request, reply) =>
      exchanges.serve(request, reply, (call) =>
        route.handle(
          {
            params: request.params as z.output<P>,
            query: request.query as z.output<Q>,
            body: request.body as z.output<B>,
            headers: request.headers,
          },
          call,
        ),
      ),
  });
}
