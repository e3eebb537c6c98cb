/** How a command that asked the broker ends; docs/reference/command-line.md has the same table. */
import type { Answer } from "../../shared/operation/answer.js";

export const EXIT = {
  /** The operation completed, or the question was answered. */
  ok: 0,
  /** It failed, expired or was refused. */
  failed: 1,
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
  /** Ctrl-C while waiting; the operation goes on. */
  detached: 130,
} as const;

/** `isSuccess`: what the tool's own result says (success.ts). */
export function exitCodeOf(answer: Pick<Answer, "status" | "error_code">, isSuccess = true): number {
  switch (answer.status) {
    case "completed":
      return isSuccess ? EXIT.ok : EXIT.unsuccessful;
    case "running":
    case "timeout":
      return EXIT.goesOn;
    case "cancelled":
      return EXIT.cancelled;
    case "not_found":
      return EXIT.notFound;
    case "error":
      return answer.error_code === "OUTCOME_UNKNOWN" ? EXIT.unknown : EXIT.failed;
  }
}
