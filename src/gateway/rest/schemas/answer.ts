/** An operation in the document (docs/reference/answers.md has what each field says). */
import { z } from "zod";
import { STATES } from "../../../shared/operation/operation.js";
import { named, time } from "./described.js";

const Progress = z.looseObject({
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
});

export const Operation = named(
  "Operation",
  z
    .looseObject({
      status: z.enum(["completed", "running", "timeout", "cancelled", "error"]),
      log_id: z.uuid(),
      tool: z.string(),
      editor: z.string(),
      pool: z.string().optional(),
      state: z.enum(STATES),
      accepted_at: time,
      message: z.string(),
      result: z.unknown().optional(),
      cached: z.boolean().optional().describe("Its result is large: read it, or parts of it, from …/result."),
      preview: z.unknown().optional(),
      partial_result: z.unknown().optional(),
      progress: Progress.optional(),
      queue_position: z.int().optional(),
      error: z.string().optional(),
      error_code: z.string().optional(),
      error_type: z.string().optional(),
      evidence: z.looseObject({}).optional(),
      execution_ms: z.number().optional(),
      deduplicated: z
        .boolean()
        .optional()
        .describe("An earlier operation answers: what was asked for did not run now."),
      executed_at: time.optional(),
      age_seconds: z.number().optional(),
      force_new: z.string().optional().describe("Pass it as force_new to run the same call again."),
    })
    .describe("What became of a call. One that failed is an operation too, with status error."),
);

/** An operation in a list: without arguments and result. */
export const Row = named(
  "OperationRow",
  z.looseObject({
    log_id: z.uuid(),
    tool: z.string(),
    editor: z.string(),
    pool: z.string().optional(),
    principal: z.string().describe("The id of whose it is."),
    principal_name: z
      .string()
      .optional()
      .describe("The name that its token was given; gone once that is revoked."),
    state: z.enum(STATES),
    accepted_at: time,
    sent_at: time.optional(),
    started_at: time.optional(),
    ended_at: time.optional(),
    execution_ms: z.number().optional(),
    client: z.string().optional(),
    progress: Progress.optional(),
    queue_position: z.int().optional(),
    duplicates: z.int().optional().describe("How many calls found it instead of making another."),
    error: z.strictObject({ code: z.string(), type: z.string(), message: z.string() }).optional(),
  }),
);

export const History = named(
  "History",
  z.looseObject({
    log_id: z.uuid(),
    tool: z.string(),
    editor: z.string(),
    pool: z.string().optional(),
    state: z.enum(STATES),
    client: z.string().optional(),
    principal: z.string(),
    principal_name: z
      .string()
      .optional()
      .describe("The name that its token was given; gone once that is revoked."),
    timeline: z.array(z.strictObject({ at: time, event: z.string(), detail: z.string().optional() })),
    why_once: z.string(),
  }),
);

export const ConsoleLog = named(
  "ConsoleLog",
  z.strictObject({
    lines: z.array(z.strictObject({ type: z.enum(["log", "warning", "error"]), message: z.string() })),
    next: z.int().describe("Pass it as `after` for the lines that follow."),
    missed: z.int().optional(),
    more: z.boolean().optional(),
  }),
);
