/**
 * One request of the REST API, from its arrival until its answer was written: what is delivered by it is noted as over any
 * other surface (../mcp/request-tracker.ts). A client that hangs up ends its wait, and nothing else.
 */
import { randomUUID } from "node:crypto";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import type { Answer } from "../../shared/operation/answer.js";
import type { Principal } from "../../shared/principal.js";
import { wellFormedJson } from "../../shared/well-formed-json.js";
import type { Broker } from "../broker.js";
import { watchExchange } from "../mcp/http/http-exchange.js";
import { createLoneRequests } from "../mcp/lone-request.js";
import type { Channel, OpenRequest } from "../mcp/open-request.js";
import { createCallers } from "./caller.js";
import { problemFrom } from "./problem.js";
import type { RestAnswer } from "./rest-answer.js";

/** What a route's handler knows of its request. */
export interface RestCall {
  principal: Principal;
  /** What the program calls itself. */
  clientId: string | undefined;
  request: OpenRequest;
  ifNoneMatch: string | undefined;
}

export interface Exchanges {
  /** `isCall`: it may create an operation. Resolves when everything that is to be stored of the exchange is there. */
  serve(
    request: FastifyRequest,
    reply: FastifyReply,
    handle: (call: RestCall) => Promise<RestAnswer>,
    how?: { isCall?: boolean },
  ): Promise<FastifyReply>;
  /** The same for a message on a connection that goes on. */
  serveMessage(
    from: Pick<FastifyRequest, "headers" | "identity">,
    way: MessageWay,
    handle: (call: RestCall) => Promise<RestAnswer>,
    how?: { isCall?: boolean },
  ): Promise<void>;
  /** Answers open waits as if their time was over; takes at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** The way back for one message. */
export interface MessageWay {
  /** Aborted once the connection has ended. */
  gone: AbortSignal;
  /** `json`: the body's text. True once it has left this process. */
  write(answer: RestAnswer & { json?: string }): Promise<boolean>;
}

export function createExchanges({ broker, log }: { broker: Broker; log: Log }): Exchanges {
  const lone = createLoneRequests({ deliveries: broker, log });
  const callers = createCallers(broker.forget);

  const answerOver = async (
    from: Pick<FastifyRequest, "headers" | "identity">,
    channel: Channel,
    handle: (call: RestCall) => Promise<RestAnswer>,
    { isCall = false }: { isCall?: boolean },
  ): Promise<void> => {
    const { clientId, caller } = callers.of(from);
    const { principal } = from.identity;
    const ifNoneMatch = from.headers["if-none-match"];
    await lone.serve({
      // Its id is nobody's: no two requests of a client are the same one.
      message: { jsonrpc: "2.0", id: randomUUID(), method: isCall ? "tools/call" : "rest" },
      caller,
      channel,
      async answer({ id }, open) {
        const answered = await handle({ principal, clientId, request: open, ifNoneMatch })
          .catch((error: unknown) => problemFrom(error, log))
          .then(writable);
        open.accepted();
        return { jsonrpc: "2.0", id, result: { answered } } as JSONRPCMessage;
      },
    });
  };

  return {
    async serve(request, reply, handle, how = {}) {
      const { gone, written, onReset } = watchExchange(reply.raw);
      const channel: Channel = {
        gone,
        onReset,
        async write(message) {
          send(reply, answerIn(message, log));
          return written;
        },
        async discard() {
          reply.hijack();
          reply.raw.destroy();
        },
      };
      await answerOver(request, channel, handle, how);
      return reply;
    },

    serveMessage: (from, { gone, write }, handle, how = {}) =>
      answerOver(
        from,
        { gone, write: (message) => write(answerIn(message, log)), discard: async () => undefined },
        handle,
        how,
      ),

    close: lone.close,
  };
}

/** The tracker itself refuses only where the store is away. */
function answerIn(message: JSONRPCMessage, log: Log): Writable {
  return "result" in message
    ? (message.result as { answered: Writable }).answered
    : writable(problemFrom(new BrokerError("STORE_UNAVAILABLE", ""), log));
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
