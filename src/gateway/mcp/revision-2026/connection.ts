/** Stateless requests on a connection that carries those of a session too: each message is served by what it says it is. */
import {
  classifyInboundRequest,
  type Implementation,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import type { OpenRequest } from "../open-request.js";
import { isRequest } from "../read-message.js";
import type { McpServerDeps } from "../server-deps.js";
import { CLIENT_KEY, REVISION, unsupported } from "./protocol.js";
import { createStatelessServer } from "./server.js";

/** The client at the other end. */
export interface ConnectedClient {
  principal: string;
  request(id: RequestId): OpenRequest;
  folders: readonly string[];
  /** Called with what it calls itself. */
  introduced(info: Implementation): void;
}

/** Serves the stateless requests of a transport; the answer is what is left of it for the server of a session. */
export function serveStateless(deps: McpServerDeps, client: ConnectedClient, whole: Transport): Transport {
  const { principal, folders } = client;
  const server = createStatelessServer(deps);

  const answer = async (message: JSONRPCRequest): Promise<JSONRPCMessage> => {
    const info = message.params?._meta?.[CLIENT_KEY];
    if (isImplementation(info)) client.introduced(info);
    const request = client.request(message.id);
    const notify = (method: string, params: Record<string, unknown>): void =>
      void whole.send({ jsonrpc: "2.0", method, params }, { relatedRequestId: message.id });
    return server.answer({ principal, message, request, folders, notify });
  };

  const rest: Transport = {
    async start() {
      whole.onmessage = (message, extra) => {
        const stateless = isRequest(message) ? answerTo(message, answer) : undefined;
        if (!stateless) rest.onmessage?.(message, extra);
        else
          stateless
            .then((said) => whole.send(said))
            .catch((error: Error) => deps.log.debug({ error: error.message }, "an answer was not written"));
      };
      whole.onerror = (error) => rest.onerror?.(error);
      whole.onclose = () => rest.onclose?.();
      await whole.start();
    },
    send: (message, options) => whole.send(message, options),
    close: () => whole.close(),
  };
  return rest;
}

/** Undefined if the request belongs to a session. */
function answerTo(
  message: JSONRPCRequest,
  answer: (message: JSONRPCRequest) => Promise<JSONRPCMessage>,
): Promise<JSONRPCMessage> | undefined {
  // There are no headers here: a POST of the body alone says the same.
  const outcome = classifyInboundRequest({ httpMethod: "POST", body: message });
  const refused = async (error: {
    code: number;
    message: string;
    data?: unknown;
  }): Promise<JSONRPCMessage> => ({
    jsonrpc: "2.0",
    id: message.id,
    error,
  });
  if (outcome.kind === "legacy" || (outcome.kind === "reject" && outcome.rung === "jsonrpc-shape"))
    return undefined;
  if (outcome.kind === "reject") {
    const { code, message: why, data } = outcome;
    return refused({ code, message: why, data });
  }
  const { revision } = outcome.classification;
  return revision === REVISION ? answer(message) : refused(unsupported(revision));
}

function isImplementation(info: unknown): info is Implementation {
  return (
    typeof info === "object" &&
    info !== null &&
    "name" in info &&
    typeof info.name === "string" &&
    "version" in info &&
    typeof info.version === "string"
  );
}
