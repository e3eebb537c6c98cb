/** Asks the user of an MCP client before a tool runs (elicitation), if the client supports it. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { BrokerError } from "../../../shared/errors.js";
import type { ToolCall } from "../../call-reader.js";
import type { OpenRequest } from "../open-request.js";
import type { ShownProgress } from "../progress-notifier.js";
import { questionText } from "../question-text.js";

/** The call whose user is asked. */
interface AskingCall {
  request: OpenRequest;
  /** As the SDK's server sees it. */
  requestId: RequestId;
  /** Undefined if its client did not ask for progress. */
  progress: ShownProgress | undefined;
}

/** How long a user may take, ms; a client that waits less gives up its call, which ends the question. */
const PATIENCE_MS = 10 * 60_000;

/**
 * How a call's user is asked; undefined if the client cannot ask. Throws NOT_CONFIRMED for every answer but yes. The
 * client's other messages are handled meanwhile: the call gives its turn back and takes one again afterwards.
 */
export function confirmation(server: Server, call: AskingCall): ToolCall["askUser"] {
  if (!server.getClientCapabilities()?.elicitation?.form) return undefined;
  const { request, requestId, progress } = call;
  return async (question) => {
    request.accepted();
    progress?.say("waiting for the user's answer");
    const { action } = await server
      .elicitInput(
        { message: questionText(question), requestedSchema: { type: "object", properties: {} } },
        { relatedRequestId: requestId, signal: request.signal, timeout: PATIENCE_MS },
      )
      .catch((error: Error) => {
        throw new BrokerError("NOT_CONFIRMED", `The user was asked and did not answer (${error.message}).`);
      });
    await request.turnAgain();
    if (request.signal.aborted)
      throw new BrokerError("NOT_CONFIRMED", "The call was given up before the answer came.");
    if (action !== "accept") throw new BrokerError("NOT_CONFIRMED", "The user was asked and said no.");
  };
}
