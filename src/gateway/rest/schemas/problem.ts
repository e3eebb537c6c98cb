/** Refusals in the document: which codes a route answers, by their status. */
import { z } from "zod";
import { ERRORS, type ErrorCode } from "../../../shared/errors.js";
import { PROBLEM_TYPE, problemUri } from "../problem.js";
import { named } from "./described.js";

const FIELDS = {
  type: z.string().describe("A URN that ends in the code; about:blank for a status of HTTP itself."),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("What happened, and what to do next."),
};

/** Further fields are the error's details: `faults`, `candidates`, `retry_after_seconds`, `newest`. */
const Problem = named(
  "Problem",
  z.looseObject({
    ...FIELDS,
    error_code: z.string().optional(),
    retry: z.enum(["never", "safe", "ask"]).optional().describe("May the same request be sent again?"),
    next: z.string().optional(),
    log_id: z.string().optional().describe("The operation, if one was accepted before."),
  }),
);

const refusalBy = (codes: readonly ErrorCode[]) =>
  z.looseObject({
    ...FIELDS,
    type: z.enum(codes.map(problemUri)),
    error_code: z.enum(codes),
    retry: z.enum(["never", "safe", "ask"]),
    next: z.string(),
    log_id: z.string().optional(),
  });

export interface DescribedAnswer {
  description: string;
  content: Record<string, { schema: z.ZodType }>;
}

/** By status, as the routes' schemas want them; `default`: what no route can say, such as 415. */
export function problems(codes: readonly ErrorCode[]): Record<string, DescribedAnswer> {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].http))].sort((a, b) => a - b);
  const described = statuses.map((status) => {
    const here = codes.filter((code) => ERRORS[code].http === status);
    return [String(status), problem(here.join(", "), refusalBy(here))] as const;
  });
  return {
    ...Object.fromEntries(described),
    default: problem("Any other refusal, also of HTTP itself (404, 413, 415).", Problem),
  };
}

function problem(description: string, schema: z.ZodType): DescribedAnswer {
  return { description, content: { [PROBLEM_TYPE]: { schema } } };
}
