/**
 * Plain Editors: their bridge keeps no ledger (docs/reference/protocol.md). `admit` decides what may be sent to them, from
 * the worker's own record of sent calls (▲12), the same for every such bridge.
 */
import type { AdmitLedger, AdmittedOperation } from "../operation/decide.js";
import { type Effect, effectOfTool } from "../tools/tool.js";
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

/** Only what the record and the tool's name or annotations agree on is a read. */
export function isRead(tool: { effect: Effect } | undefined, name: string, recorded: Effect): boolean {
  return recorded === "read_only" && (tool?.effect ?? effectOfTool(name)) === "read_only";
}

/** The ledger for `admit`: first the calls of this connection, then every call ever sent. */
export function plainLedger(
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

/** Nobody can tell how the call ended: its answer was lost, or another process may have sent it. */
export function unknown(why: string, startedAt: number | undefined, endedAt: number): Outcome {
  const error = { type: "connection_lost", message: why };
  return { status: "interrupted", error, ...(startedAt === undefined ? {} : { startedAt }), endedAt };
}
