/**
 * Asks the user of a stateless client before a tool runs: the call is answered with the question, and sent again with the
 * answer. What the client carries in between (`requestState`) is signed, and says what was asked: a yes counts for this
 * call of this principal, for the operation that would come next, and for ten minutes. Once that operation exists, the next
 * one has another predecessor, so that the same yes is no yes to it.
 */
import { createHash } from "node:crypto";
import {
  createRequestStateCodec,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { BrokerError } from "../../../shared/errors.js";
import { RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import type { Broker } from "../../broker.js";
import type { ToolCall } from "../../call-reader.js";
import { ProtocolError } from "../protocol-error.js";
import { questionText } from "../question-text.js";
import { InputRequired } from "../requests/input-required.js";

/** The call whose user is asked. */
interface AskingCall {
  principal: string;
  /** Whether its client can ask. */
  canAsk: boolean;
  /** As the client sent them. */
  params: Readonly<Record<string, unknown>>;
}

const PATIENCE_SECONDS = 600;

/** The name of the one question. */
const QUESTION = "confirm";

/** The codec's own binding asks for a context of the SDK's server; ours needs none. */
const NO_CONTEXT = {} as ServerContext;

/**
 * How a call's user is asked; undefined if its client cannot ask. Throws NOT_CONFIRMED for a no. Rejects with a protocol error
 * if the call carries a state that this store's gateways did not give to this principal.
 */
export async function confirmation(
  broker: Pick<Broker, "clientStateKey">,
  { principal, canAsk, params }: AskingCall,
): Promise<ToolCall["askUser"]> {
  const { requestState, inputResponses } = params;
  const asked = requestState === undefined ? undefined : await verified(broker, principal, requestState);
  if (!canAsk) return undefined;
  return async (question, place) => {
    const about = digest([question, place]);
    const action = asked === about ? actionIn(inputResponses) : undefined;
    if (action === "accept") return;
    if (action !== undefined) throw new BrokerError("NOT_CONFIRMED", "The user was asked and said no.");
    const message = questionText(question);
    const requestedSchema = { type: "object", properties: {} };
    const codec = await codecOf(broker, principal);
    throw new InputRequired({
      inputRequests: {
        [QUESTION]: { method: "elicitation/create", params: { mode: "form", message, requestedSchema } },
      },
      requestState: await codec.mint(about, NO_CONTEXT),
    });
  };
}

async function verified(
  broker: Pick<Broker, "clientStateKey">,
  principal: string,
  state: unknown,
): Promise<string> {
  try {
    if (typeof state !== "string") throw new Error("not a string");
    return await (await codecOf(broker, principal)).verify(state, NO_CONTEXT);
  } catch (error) {
    if (error instanceof BrokerError) throw error;
    throw new ProtocolError(
      RPC_INVALID_PARAMS,
      "The requestState is invalid or expired. Send the call without it.",
    );
  }
}

async function codecOf(
  broker: Pick<Broker, "clientStateKey">,
  principal: string,
): Promise<RequestStateCodec<string>> {
  const key = await broker.clientStateKey();
  return createRequestStateCodec<string>({
    key,
    ttlSeconds: PATIENCE_SECONDS,
    bind: () => JSON.stringify(["tools/call", principal]),
  });
}

/** What the user did; undefined if there is no answer to our question. */
function actionIn(responses: unknown): string | undefined {
  const answer = objectIn(objectIn(responses)?.[QUESTION]);
  const action = answer?.action;
  return action === "accept" || action === "decline" || action === "cancel" ? action : undefined;
}

const objectIn = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url");
