/**
 * Console lines on their way from a running operation's Editor to those who follow it (docs/reference/protocol.md,
 * section 4). They are shown to people; nothing is decided by them.
 */
import { z } from "zod";

/** Most lines of one notice. */
export const LINES_IN_NOTICE = 50;
/** Most characters of one line, which may hold several lines of text. */
export const LINE_LENGTH = 2_000;

export const ConsoleLine = z.looseObject({
  /** Errors, assertions and exceptions are `error`. */
  type: z.enum(["log", "warning", "error"]).catch("log"),
  message: z.string(),
});
export type ConsoleLine = Pick<z.infer<typeof ConsoleLine>, "type" | "message">;

/** What was logged since the notice before, while this operation had the main lane. */
export const LogNotice = z.looseObject({
  operationId: z.string(),
  lines: z.array(ConsoleLine),
  /** How many later ones were left out. */
  more: z.int().positive().optional(),
});
export type LogNotice = z.infer<typeof LogNotice>;
