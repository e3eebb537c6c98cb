/** /mcp: Streamable HTTP. Hands an exchange to the session that its request names, or serves it without one. */
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type BrokerError, ERRORS } from "../../../shared/errors.js";
import { wellFormedJson } from "../../../shared/printable.js";
import { storeFault } from "../../../shared/store/connect.js";
import type { Log } from "../../../shared/telemetry.js";
import { RPC_INVALID_PARAMS, RPC_INVALID_REQUEST } from "../../../shared/wire/rpc.js";
import { bodyTooLarge, type Refusal, readMessage } from "../read-message.js";
import type { HttpSessions } from "../revision-2025/http-sessions.js";
import { MOST_INITIALIZE_BYTES } from "../revision-2025/stored-initialize.js";
import type { StatelessHttp } from "../revision-2026/http.js";

/** The code that MCP's own servers use for an unknown session. */
const SESSION_NOT_FOUND = -32001;

declare module "fastify" {
  interface FastifyRequest {
    /** Size of a JSON body. */
    bodyBytes: number;
  }
}

export interface McpRoutesOptions {
  sessions: HttpSessions;
  stateless: StatelessHttp;
  log: Log;
  bodyLimit: number;
}

export async function mcpRoutes(app: FastifyInstance, options: McpRoutesOptions): Promise<void> {
  const { sessions, stateless, log, bodyLimit } = options;

  app.setReplySerializer(wellFormedJson);
  app.decorateRequest("bodyBytes", 0);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string", bodyLimit }, (request, text, done) => {
    request.bodyBytes = Buffer.byteLength(text);
    const read = readMessage(String(text));
    if ("message" in read) return done(null, read.message);
    // A request that has its form is answered as one, whatever its answer is.
    const isWhole = read.isAwaited && read.refusal.error.code === RPC_INVALID_PARAMS;
    const { refusal } = read;
    done(Object.assign(new Error(refusal.error.message), { statusCode: isWhole ? 200 : 400, refusal }));
  });
  app.setErrorHandler((error: Error & { statusCode?: number; refusal?: Refusal }, _request, reply) => {
    if (error.refusal) return reply.code(error.statusCode ?? 400).send(error.refusal);
    const fault = storeFault(error);
    if (fault) return refuseWith(reply, fault);
    const status = error.statusCode ?? 500;
    if (status === 413) return refuseWith(reply, bodyTooLarge(bodyLimit));
    if (status < 500) return refuse(reply, status, RPC_INVALID_REQUEST, error.message);
    log.error({ error }, "a request to /mcp failed");
    return refuse(reply, 500, ERRORS.INTERNAL.rpc, ERRORS.INTERNAL.next);
  });

  app.route({
    method: ["POST", "GET", "DELETE"],
    url: "/mcp",
    exposeHeadRoute: false,
    bodyLimit,
    async handler(request, reply) {
      const taken = request.method === "POST" ? takenStateless(request) : undefined;
      if (taken?.kind === "refused") return reply.code(taken.status).send(taken.body);
      const session = taken ? undefined : await sessionOf(request, reply);
      if (!taken && !session) return reply;
      reply.hijack();
      try {
        if (taken) await stateless.serve(request.identity.principal.id, taken.message, reply.raw);
        else await session?.handle(request.raw, reply.raw, request.body);
      } catch (error) {
        log.error({ error }, "an exchange on /mcp failed");
        reply.raw.destroy();
      }
      return reply;
    },
  });

  const takenStateless = ({ body, headers }: FastifyRequest) => stateless.take(headers, body);

  const sessionOf = async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.method === "POST") {
      // Always a new session, whatever session header is sent: a client that initialises starts over.
      if (isInitializeRequest(request.body)) {
        const bytes = request.bodyBytes;
        if (bytes > MOST_INITIALIZE_BYTES) {
          const what = `The initialize request has ${bytes} bytes; the limit is ${MOST_INITIALIZE_BYTES}.`;
          return refuse(reply, 413, RPC_INVALID_REQUEST, what);
        }
        return sessions.open(request.identity.principal.id);
      }
    }
    const id = request.headers["mcp-session-id"];
    if (typeof id !== "string") {
      return refuse(
        reply,
        400,
        RPC_INVALID_REQUEST,
        "The header Mcp-Session-Id is missing: initialize first.",
      );
    }
    const found = await sessions.find(id, request.identity.principal.id);
    return found ?? refuse(reply, 404, SESSION_NOT_FOUND, "Session not found: initialize again.");
  };
}

/** A JSON-RPC error that answers no particular request. */
export function refuse(
  reply: FastifyReply,
  status: number,
  code: number,
  message: string,
  data?: object,
): undefined {
  reply.code(status).send({ jsonrpc: "2.0", id: null, error: { code, message, ...(data ? { data } : {}) } });
  return undefined;
}

/** The same for an error from the closed table. */
export function refuseWith(reply: FastifyReply, { code, message }: BrokerError): undefined {
  return refuse(reply, ERRORS[code].http, ERRORS[code].rpc, message, { error_code: code });
}
