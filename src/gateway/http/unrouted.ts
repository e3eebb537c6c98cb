/** What is answered to what reaches no route: on every surface in its own form, never in that of the framework. */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import { RPC_INVALID_REQUEST } from "../../shared/wire/rpc.js";
import { refuse } from "../mcp/http/http-routes.js";
import { refusal } from "../mcp/tools/tool-answer.js";
import { rawProblem, sendHttpProblem, sendProblem } from "../rest/problem.js";

/** fastify's `frameworkErrors`: a path that no router can read. No hook runs before it. */
export function refusePath(error: FastifyError, { raw }: FastifyRequest, reply: FastifyReply): void {
  const isTooLong = error.statusCode === 414;
  const what = isTooLong ? "A part of the path is too long." : "The path is not one of a URL.";
  // Nobody else ends the connection of a refused upgrade.
  if (raw.headers.upgrade !== undefined) reply.raw.once("finish", () => raw.socket.destroySoon());
  sendProblem(reply, new BrokerError("INVALID_ARGUMENTS", what), isTooLong ? 414 : undefined);
}

/** fastify's `clientErrorHandler`: what is no HTTP, or came too slowly. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  const { _httpMessage: answering } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  // Behind a part of another answer it would be read as the rest of that.
  if (socket.writable && error.code !== "ECONNRESET" && answering?.headersSent !== true) {
    const [status, detail] = REFUSED.get(error.code ?? "") ?? [400, "This is not a request of HTTP/1.1."];
    socket.write(rawProblem(status, detail));
  }
  socket.destroy();
}

const REFUSED: ReadonlyMap<string, readonly [number, string]> = new Map([
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "The request took too long to arrive."]],
  ["HPE_HEADER_OVERFLOW", [431, "The headers are too large."]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "The extensions of a chunk are too large."]],
]);

/** For what no surface answers itself. */
export function refuseUnrouted(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler((request, reply) => {
    const { method, url } = request;
    if (url.split("?")[0] !== "/mcp")
      return sendHttpProblem(reply, 404, `There is no ${method} ${url.slice(0, 200)} here.`);
    reply.header("allow", "GET, POST, DELETE");
    refuse(reply, 405, RPC_INVALID_REQUEST, `/mcp has no ${method}.`);
    return reply;
  });
  app.setErrorHandler((error: FastifyError, _request, reply) =>
    !(error instanceof BrokerError) && error.statusCode !== undefined && error.statusCode < 500
      ? sendHttpProblem(reply, error.statusCode, error.message)
      : sendProblem(reply, refusal(error, log)),
  );
}
