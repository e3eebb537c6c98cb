/** How a command that asked the broker ends; docs/reference/command-line.md has the same table. */
import type { Answer } from "../../shared/operation/answer.js";

/** Every way to end, with the exit code of all commands but `run`. */
export const EXIT = {
  /** The operation completed, or the question was answered. */
  ok: 0,
  /** The tool failed. */
  failed: 1,
  /** The call was refused: nothing was executed. */
  refused: 1,
  /** It expired before it was sent. */
  expired: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** The wait ended; the operation goes on. */
  goesOn: 3,
  notFound: 4,
  /** Nobody knows whether it ran. */
  unknown: 5,
  cancelled: 6,
  /** It completed, and its result says `Success: false`: tests failed, scripts do not compile. */
  unsuccessful: 7,
  /** What it has to say could not be written; the operation is as it would have said (sysexits' EX_IOERR). */
  unwritten: 74,
  /** Ctrl-C while waiting; the operation goes on. */
  detached: 130,
} as const;

export type Ending = keyof typeof EXIT;

/** The codes of `run`: a pipeline asks first whether the tool succeeded, and then what it may do next. */
export const RUN_EXIT: Readonly<Record<Ending, number>> = {
  ok: 0,
  failed: 1,
  unsuccessful: 1,
  usage: 2,
  refused: 2,
  notFound: 2,
  unknown: 3,
  cancelled: 4,
  expired: 4,
  goesOn: 5,
  unwritten: 74,
  detached: 5,
};

/** `isSuccess`: what the tool's own result says (success.ts). */
export function endingOf(answer: Pick<Answer, "status" | "state" | "error_code">, isSuccess = true): Ending {
  switch (answer.status) {
    case "completed":
      return isSuccess ? "ok" : "unsuccessful";
    case "running":
    case "timeout":
      return "goesOn";
    case "cancelled":
      return "cancelled";
    case "not_found":
      return "notFound";
    case "error":
      return endingOfError(answer);
  }
}

function endingOfError({ state, error_code }: Pick<Answer, "state" | "error_code">): Ending {
  if (error_code === "OUTCOME_UNKNOWN" || error_code === "RECORD_LOST") return "unknown";
  if (error_code === "EXPIRED") return "expired";
  // Without a state, the broker accepted nothing. And what the Editor refused has not begun.
  const isRefused = error_code === "EDITOR_REFUSED" || error_code === "INVALID_ARGUMENTS";
  return state === undefined || isRefused ? "refused" : "failed";
}

export function exitCodeOf(
  answer: Pick<Answer, "status" | "state" | "error_code">,
  isSuccess?: boolean,
): number {
  return EXIT[endingOf(answer, isSuccess)];
}
