/** The broker's answer in a tool's result, whichever form it has: the one for a model is text only. */
export function answerIn<Answer>(result: unknown): Answer {
  const { structuredContent, content } = result as {
    structuredContent?: unknown;
    content?: { text?: string }[];
  };
  const [first] = content ?? [];
  if (structuredContent === undefined && first?.text === undefined)
    throw new Error(`no answer of a tool: ${JSON.stringify(result)?.slice(0, 1_000)}`);
  return (structuredContent ?? JSON.parse(first?.text ?? "")) as Answer;
}
