/**
 * Editors whose bridge keeps no ledger (docs/reference/protocol.md, "Plain Editors"): how to recognise them, and what
 * their answers mean. `admit` decides what may be sent to them, from the worker's own record of sent calls (▲12).
 */
import type { AdmitLedger, AdmittedOperation } from "../operation/admit.js";
import { type Effect, effectOfTool } from "../tools/tool.js";
import { RPC_INTERNAL_ERROR, RPC_UNKNOWN_METHOD, type RpcError } from "./rpc.js";
import type { Outcome, SubmitParams } from "./wire.js";

/** A call recorded before its first byte was sent. Times in ms since the epoch. */
export interface SentCall {
  operationId: string;
  hash: string;
  /** On the store's clock. */
  acceptedAt: number;
  /** On the clock of the machine that sent it. */
  sentAt: number;
}

/**
 * Whether this answer to `bridge/hello` means that the method does not exist. A plain bridge may answer with the code, or
 * with its one internal error and a text; some refuse every name that they do not know by policy.
 */
export function knowsNoHello({ code, message, data }: Pick<RpcError, "code" | "message" | "data">): boolean {
  if (code === RPC_UNKNOWN_METHOD) return true;
  if (code !== RPC_INTERNAL_ERROR) return false;
  const { type, command, text } = detailsOf(message, data);
  if (type === "security_blocked") return command === "bridge/hello";
  return text.includes("bridge/hello") && /unknown|not found|no such/i.test(text);
}

/** The bridge's whole message: a tool that failed to find something has already begun. */
const UNKNOWN_TOOL = /^(?:unknown|no such) (?:tool|command|method):? ["']?([\w./-]+)["']?\.?$/i;

function detailsOf(
  message: string,
  data: unknown,
): {
  type?: unknown;
  command?: unknown;
  text: string;
  last: string;
} {
  const said = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const text = [message, said.message, said.reason].filter((part) => typeof part === "string").join(" ");
  return { type: said.type, command: said.command, text, last: String(said.message ?? message) };
}

/** A read is sent again only if the record and the tool's name or annotations agree that it is one. */
export function isRead(tool: { effect: Effect } | undefined, name: string, recorded: Effect): boolean {
  return recorded === "read_only" && (tool?.effect ?? effectOfTool(name)) === "read_only";
}

/** The ledger for `admit`: first the calls of this connection, then every call ever sent. */
export function uloopLedger(
  submit: SubmitParams,
  memory: {
    forgetHorizon: number;
    readOnly: boolean;
    onConnection(operationId: string): AdmittedOperation | undefined;
    sent(operationId: string): SentCall | undefined;
    latestSent(hash: string): SentCall | undefined;
  },
): AdmitLedger {
  const get = (operationId: string): AdmittedOperation | undefined => {
    const known = memory.onConnection(operationId);
    if (known) return known;
    const sent = memory.sent(operationId);
    return sent && lost(sent);
  };
  return {
    ledgerId: submit.ledgerId,
    fence: { epoch: submit.epoch, ownerNonce: submit.ownerNonce },
    forgetHorizon: memory.forgetHorizon,
    get,
    latestOfHash(hash) {
      const sent = memory.latestSent(hash);
      return sent && get(sent.operationId);
    },
    // The Editor itself says which tools it has and allows.
    hasTool: () => true,
    isReadOnly: () => memory.readOnly,
    securityRefusal: () => undefined,
  };
}

/** Sent on a connection that has ended: its fate cannot be asked any more. */
export function lost(sent: SentCall): AdmittedOperation & { outcome: Outcome } {
  const why =
    `It was sent at ${new Date(sent.sentAt).toISOString()} (sent.log) and its answer never came. ` +
    "This Editor's bridge keeps no ledger, so nobody can tell whether, or how far, it ran.";
  return {
    operationId: sent.operationId,
    state: "interrupted",
    outcome: unknown(why, sent.sentAt, sent.sentAt),
  };
}

/** The connection ended after the call was sent, or another process may have sent it. */
export function unknown(why: string, startedAt: number | undefined, endedAt: number): Outcome {
  const error = { type: "connection_lost", message: why };
  return { status: "interrupted", error, ...(startedAt === undefined ? {} : { startedAt }), endedAt };
}

/** The meaning of an error answer: refused before it began, or failed. Never "unknown": the Editor answered. */
export function failedOutcome(
  tool: string,
  error: Pick<RpcError, "code" | "message" | "data">,
  startedAt: number,
  endedAt: number,
): Outcome {
  const { type, text, last } = detailsOf(error.message, error.data);
  const failed = (kind: string): Outcome => ({
    status: "failed",
    error: { type: kind, message: text },
    endedAt,
  });
  if (type === "security_blocked") return failed("security_blocked");
  if (error.code === RPC_UNKNOWN_METHOD || UNKNOWN_TOOL.exec(last)?.[1] === tool)
    return failed("unknown_tool");
  return {
    ...failed(typeof type === "string" ? type : "internal_error"),
    startedAt,
    executionMs: endedAt - startedAt,
  };
}
