/**
 * One request of the REST API, from its arrival until its answer was written (../exchange.ts). A client that hangs up ends its
 * wait, and nothing else.
 */
import { createHash, randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import type { Answer } from "../../shared/operation/answer.js";
import type { Caller } from "../../shared/operation/operation.js";
import type { Principal } from "../../shared/principal.js";
import { wellFormedJson } from "../../shared/printable.js";
import type { Log } from "../../shared/telemetry.js";
import type { Identity } from "../auth/authenticator.js";
import { type Exchanges, singleRequest, type Way } from "../exchange.js";
import { watchExchange } from "../mcp/http/http-exchange.js";
import { loneRequest, type OpenRequest } from "../mcp/request-tracker.js";
import { problemFrom } from "./problem.js";
import type { RestAnswer } from "./rest-answer.js";

// Who sends a request of the REST API: the client that the header names, or a caller that nobody can come back as.

const MOST_CLIENT_ID = 200;

/** Throws INVALID_ARGUMENTS. */
function callerOf({ headers, identity }: Pick<FastifyRequest, "headers" | "identity">): {
  clientId?: string;
  caller: Caller;
} {
  const clientId = headers["x-client-id"];
  if (clientId === undefined) return { caller: singleRequest("http") };
  if (typeof clientId !== "string" || clientId.length === 0 || clientId.length > MOST_CLIENT_ID)
    throw new BrokerError("INVALID_ARGUMENTS", `X-Client-Id has 1 to ${MOST_CLIENT_ID} characters.`);
  return { clientId, caller: callerNamed(identity, clientId) };
}

/** The token with the client id: over any connection and gateway. */
function callerNamed({ principal, tokenId }: Identity, clientId: string): Caller {
  const named = createHash("sha256")
    .update(JSON.stringify([principal.id, tokenId, clientId]))
    .digest("hex");
  return { id: `rest:${named.slice(0, 32)}`, transport: "http" };
}

/** What a route's handler knows of its request. */
export interface RestCall {
  principal: Principal;
  /** What the program calls itself. */
  clientId: string | undefined;
  request: OpenRequest;
  ifNoneMatch: string | undefined;
}

type Handle = (call: RestCall) => Promise<RestAnswer>;

type From = Pick<FastifyRequest, "headers" | "identity">;

export interface RestExchanges {
  serve(request: FastifyRequest, reply: FastifyReply, handle: Handle): Promise<FastifyReply>;
  /** The same for a message on a connection that goes on. */
  serveMessage(from: From, way: MessageWay, handle: Handle): Promise<void>;
}

/** The way back for one message. */
export interface MessageWay extends Way {
  /** `json`: the body's text. True once it has left this process. */
  write(answer: RestAnswer & { json?: string }): Promise<boolean>;
}

export function createRestExchanges({
  exchanges,
  log,
}: {
  exchanges: Pick<Exchanges, "open">;
  log: Log;
}): RestExchanges {
  /** True unless its answer is not wanted any more. */
  const answerOver = async (from: From, { write, ...way }: MessageWay, handle: Handle): Promise<boolean> => {
    const { clientId, caller } = callerOf(from);
    const { principal } = from.identity;
    // The client may have sent it because of an answer that is written, but whose write has not called back yet.
    await nextTurn();
    const exchange = exchanges.open({ principal: principal.id, caller, way });
    const channel = { ...way, write: async () => false, discard: async () => undefined };
    const request = loneRequest(exchange, channel, randomUUID());
    const answered = await handle({
      principal,
      clientId,
      request,
      ifNoneMatch: from.headers["if-none-match"],
    })
      .catch((error: unknown) => problemFrom(error, log))
      .then(writable);
    await exchange.answer((mayTell) => write(mayTell ? answered : withheld(log)));
    return !exchange.isDropped;
  };

  return {
    async serve(request, reply, handle) {
      const { written, ...way } = watchExchange(reply.raw);
      const write = (answer: Writable): Promise<boolean> => {
        send(reply, answer);
        return written;
      };
      if (await answerOver(request, { ...way, write }, handle)) return reply;
      reply.hijack();
      reply.raw.destroy();
      return reply;
    },

    serveMessage: async (from, way, handle) => void (await answerOver(from, way, handle)),
  };
}

/** Instead of an outcome whose delivery cannot be noted. */
function withheld(log: Log): Writable {
  return writable(problemFrom(new BrokerError("STORE_UNAVAILABLE", ""), log));
}

/** With the JSON text of its body. */
type Writable = RestAnswer & { json?: string };

/** The text of a result that nests too deep cannot be made: it is left out then. */
function writable(answer: RestAnswer): Writable {
  if (answer.body === undefined) return answer;
  try {
    return { ...answer, json: wellFormedJson(answer.body) };
  } catch {
    const { result: _result, partial_result: _partial, message, ...rest } = answer.body as Answer;
    const said = `${message} Its result nests too deep for an answer: read it by itself, from …/result.`;
    return { ...answer, json: wellFormedJson({ ...rest, message: said }) };
  }
}

function send(reply: FastifyReply, answer: Writable): void {
  const { status, headers = {}, type = "application/json", json, stream } = answer;
  reply.code(status).headers(headers);
  if (stream) reply.type(type).send(stream);
  else if (json === undefined) reply.send();
  else reply.type(type).serializer(String).send(json);
}
