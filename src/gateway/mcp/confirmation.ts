/** Asks the user behind an MCP client before a tool runs (elicitation), where the client can ask. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import { BrokerError } from "../../shared/errors.js";
import { printableLine } from "../../shared/printable.js";
import { shortened } from "../../shared/shortened-text.js";
import type { Question, ToolCall } from "../call-reader.js";
import type { OpenRequest } from "./open-request.js";
import type { ShownProgress } from "./progress.js";

/** A call that is being answered. */
export interface OpenCall {
  request: OpenRequest;
  /** As the SDK's server sees it. */
  requestId: RequestId;
  /** Undefined: its client did not ask for it. */
  progress: ShownProgress | undefined;
}

/** People are given this long, ms; a client that waits less gives its call up, which ends the question. */
const PATIENCE_MS = 10 * 60_000;

/** UTF-16 units of the arguments that are shown: of their beginning, and of their end. */
const [SHOWN_FIRST, SHOWN_LAST] = [1_200, 400];

/**
 * How a call's user is asked; undefined where the client cannot ask. Throws NOT_CONFIRMED for everything but a yes. The
 * client's other messages are handled while the user thinks: the call gives its turn back, and takes one again after.
 */
export function confirmation(server: Server, call: OpenCall): ToolCall["confirm"] {
  if (!server.getClientCapabilities()?.elicitation?.form) return undefined;
  const { request, requestId, progress } = call;
  return async (question) => {
    request.accepted();
    progress?.say("waiting for the user's answer");
    const { action } = await server
      .elicitInput(
        { message: textOf(question), requestedSchema: { type: "object", properties: {} } },
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

function textOf({ tool, editor, arguments: args }: Question): string {
  const shown = whole(printableLine(args).replace(/ {8,}/g, ({ length }) => ` …(${length} blanks)… `));
  return `Run ${printableLine(tool)} in the Unity Editor ${editor}? It may change or delete something there.\nArguments: ${shown}`;
}

/** With its end: who writes the arguments must not hide what they are about behind much else. */
function whole(text: string): string {
  if (text.length <= SHOWN_FIRST + SHOWN_LAST) return text;
  return `${shortened(text, SHOWN_FIRST, text.length - SHOWN_LAST)}… ${text.slice(-SHOWN_LAST)}`;
}
