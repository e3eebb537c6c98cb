/** The forms in which MCP clients are answered: `short` for a model, `full` for a program (src/gateway/mcp/tools/answer-form.ts). */
export const ANSWER_FORMS = ["short", "full"] as const;
export type AnswerForm = (typeof ANSWER_FORMS)[number];
