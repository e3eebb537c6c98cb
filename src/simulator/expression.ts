/** Regular expressions that callers search with: a hostile one must not hold the simulated Editor, and with it its whole process. */
import { createContext, Script } from "node:vm";
import { toolFailure } from "./tool-definition.js";

/** By the clock on the wall: on a busy machine a harmless match may stand still for a while. */
const MATCH_MS = 3_000;

const MATCH = new Script("expression.test(text)");

/** Matches one text; throws invalid_arguments, also for a match that takes too long. */
export function boundedExpression(parameter: string, pattern: string): (text: string) => boolean {
  const context = createContext({ expression: compiled(parameter, pattern), text: "" });
  return (text) => {
    context.text = text;
    try {
      return MATCH.runInContext(context, { timeout: MATCH_MS }) as boolean;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      throw toolFailure(
        "invalid_arguments",
        `${parameter} takes too long to match; write a simpler regular expression.`,
      );
    }
  };
}

function compiled(parameter: string, pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw toolFailure("invalid_arguments", `${parameter} is not a regular expression: ${reason}`);
  }
}
