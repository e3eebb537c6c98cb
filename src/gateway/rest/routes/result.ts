/** The result of an operation: whole, as its JSON text, or a part of it. */
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { DocumentError } from "../../../documents/document-error.js";
import { BrokerError } from "../../../shared/errors.js";
import { statusOf } from "../../../shared/operation/answer.js";
import { head } from "../../../shared/printable.js";
import type { Broker } from "../../broker.js";
import { UUID } from "../../mcp/tools/broker-tool.js";
import type { Source } from "../../results/results.js";
import type { RestCall } from "../exchange.js";
import { operationAnswer } from "../operation-answer.js";
import { ownToolOf } from "../own-tool.js";
import { isNamed, type RestAnswer, withEtag } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { ById } from "./read.js";
import type { RouteDeps } from "./submit.js";

const number = z.coerce.number();

const Part = z.strictObject({
  page: number.int().optional().describe("From 1; beyond the last one it is empty."),
  page_size_kb: number.positive().max(6_144).optional(),
  path: z.string().optional().describe("The list to take items from, such as roots[0].children."),
  jq: z.string().optional().describe("A jq program, such as .nodes[].name"),
  fields: z.string().optional().describe("Only these fields of each item, separated by commas."),
  limit: number.int().min(0).optional(),
  offset: number.int().min(0).optional(),
});

const Whole = z.unknown().describe("What the tool returned.");
const OfPart = z.looseObject({ status: z.string(), message: z.string(), data: z.unknown().optional() });

/** Bytes of its text that are read at once. */
const PIECE = 1024 * 1024;

export function resultRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { broker, exchanges } = deps;
  const run = ownToolOf(deps);
  addRoute(app, exchanges, {
    method: "GET",
    url: "/operations/:id/result",
    summary: "Reads a result: whole, or the part that the query names",
    description:
      "With page, jq, fields, limit or offset: a part, with what describes it. docs/guide/large-results.md.",
    tag: "operations",
    params: ById,
    query: Part,
    answers: {
      200: json("The result itself, or `data` with a part of it.", z.union([OfPart, Whole])),
      304: z.null().describe("The client has it."),
    },
    errors: ["NOT_FOUND", "FETCH_FAILED"],
    async handle({ params: { id }, query: { fields, ...part } }, call) {
      const isPart = fields !== undefined || Object.keys(part).some((name) => name !== "page_size_kb");
      if (!isPart) return whole(broker, id, call);
      const named = fields === undefined ? {} : { fields: fields.split(",").map((each) => each.trim()) };
      return operationAnswer(await run("fetch_cached_response", { log_id: id, ...part, ...named }, call));
    },
  });
}

async function whole(broker: Broker, id: string, call: RestCall): Promise<RestAnswer> {
  const { principal, request, ifNoneMatch } = call;
  const source = UUID.test(id) ? await broker.results.find(principal.id, id) : undefined;
  if (!source || source.partial !== undefined) throw none(id, source);
  // Read (▲7): a caller that names a log_id has read what was delivered to it before.
  await request.names(id);
  // A result does not change, and no two operations have the same.
  const etag = `"${source.cacheId}-${source.bytes}"`;
  if (isNamed(etag, ifNoneMatch)) return withEtag({ status: 304 }, etag, ifNoneMatch);
  const first = await broker.results.piece(source, 0, PIECE).catch((error: unknown) => {
    throw error instanceof DocumentError ? new BrokerError("FETCH_FAILED", `${error.message}.`) : error;
  });
  if (source.record) request.delivers(source.record);
  const stream = Readable.from(pieces(broker, source, first));
  return withEtag(
    { status: 200, stream, headers: { "content-length": String(first.total) } },
    etag,
    undefined,
  );
}

async function* pieces(
  { results }: Broker,
  source: Source,
  first: { bytes: Uint8Array; total: number },
): AsyncGenerator<Uint8Array> {
  let { bytes } = first;
  for (let at = 0; ; ) {
    yield bytes;
    at += bytes.byteLength;
    if (at >= first.total || bytes.byteLength === 0) return;
    ({ bytes } = await results.piece(source, at, PIECE));
  }
}

function none(id: string, source: Source | undefined): BrokerError {
  const { record } = source ?? {};
  const what = record
    ? `The operation ${record.logId} has no result: it is ${statusOf(record)}. What it has reported so far is read with page, jq or fields.`
    : `You have no result under "${head(id, 100)}": an operation that has not completed has none.`;
  return new BrokerError("NOT_FOUND", what);
}
