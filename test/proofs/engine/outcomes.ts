/** What an answer says: how an operation ended, that it is under way, or that the call is refused. */
import type { CallAnswer } from "../../harness/processes/process-clients.js";

/** Errors that say how an operation ended; every other one is about the call. */
const OUTCOMES = new Set(["TOOL_FAILED", "EDITOR_REFUSED", "OUTCOME_UNKNOWN", "EXPIRED"]);

/** It says how an operation ended. */
export function isOutcome({ status, error_code }: CallAnswer): boolean {
  return (
    status === "completed" || status === "cancelled" || (status === "error" && OUTCOMES.has(error_code ?? ""))
  );
}

/** Refusals that only say that it is too early: the store, or an Editor that it has lost, is not back yet. */
const TOO_EARLY = new Set(["STORE_UNAVAILABLE", "EDITORS_NOT_BACK"]);

/** An outcome or a refusal: it ends a caller's wait. */
export function isFinal({ status, error_code }: CallAnswer): boolean {
  return status !== "timeout" && status !== "running" && !TOO_EARLY.has(error_code ?? "");
}

/** The execution began, as far as anybody knows; what has not begun may be intended again. */
export function hasBegun({ status, error_code }: CallAnswer): boolean {
  return status === "completed" || error_code === "OUTCOME_UNKNOWN" || error_code === "TOOL_FAILED";
}

/** ▲8 The store does not know the operation that it names; the refusal shows the newest outcome of the call. */
export function isForceNewRefused({ error_code, faults }: CallAnswer): boolean {
  return error_code === "INVALID_ARGUMENTS" && JSON.stringify(faults ?? "").includes("/force_new");
}

/** No answer: the gateway or its store is away, and a client sends the call again. */
export function isAway(error: unknown): boolean {
  const { message, code } = error as NodeJS.ErrnoException;
  return /ECONNREFUSED|ECONNRESET|socket hang up|aborted|connection ended|not available|HTTP 503/.test(
    `${code ?? ""} ${message}`,
  );
}
