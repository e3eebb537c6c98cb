/** The forms in which MCP clients are answered: `short` for a model, `full` for a program (src/gateway/mcp/tools/tool-answer.ts). */
import { WAITS, type WaitLimits } from "./wait-time.js";

export const ANSWER_FORMS = ["short", "full"] as const;
export type AnswerForm = (typeof ANSWER_FORMS)[number];

export interface AnswerSettings {
  /** For clients that are not known to read the full one. */
  form: AnswerForm;
  /** Most bytes of one answer; undefined: what the client is known to take (src/gateway/mcp/tools/tool-answer.ts). */
  limitBytes: number | undefined;
  waits: WaitLimits;
}

export const ANSWER_SETTINGS: AnswerSettings = { form: "short", limitBytes: undefined, waits: WAITS };
