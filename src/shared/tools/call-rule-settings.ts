/** The settings for classes, tools and Editors (call-rules.ts), as people write them. Times in seconds. */
import { z } from "zod";
import { EXECUTION_CLASSES } from "./tool.js";

const seconds = z.number().positive();

const times = {
  max_execution_time: seconds
    .optional()
    .describe("How long a call usually takes at most; then it is overdue, and shown as that"),
  progress_interval: seconds
    .optional()
    .describe("A waiting MCP client is told of changes at most this often (default 0.25)"),
  heartbeat_interval: seconds
    .optional()
    .describe("… and that its call is alive at least this often (default 5)"),
};

const timeout = z
  .number()
  .min(0)
  .optional()
  .describe("How long a call waits for its outcome, if it does not say");

const ClassRule = strict(times);

const ToolRule = strict({
  execution_class: z
    .enum(EXECUTION_CLASSES)
    .optional()
    .describe("The class of its calls, whatever the tool says of itself"),
  ...times,
  timeout,
});

const tools = z.record(z.string().min(1), ToolRule);

const EditorRule = strict({
  ...times,
  timeout,
  tools: tools.optional().describe("What holds for some tools of this Editor only"),
});

export type ClassRule = z.output<typeof ClassRule>;
export type ToolRule = z.output<typeof ToolRule>;
export type EditorRule = z.output<typeof EditorRule>;

const ofClasses = Object.fromEntries(EXECUTION_CLASSES.map((name) => [name, ClassRule.optional()])) as Record<
  (typeof EXECUTION_CLASSES)[number],
  z.ZodOptional<typeof ClassRule>
>;

export const classRules = jsonOf(strict(ofClasses));
export const toolRules = jsonOf(tools);
export const editorRules = jsonOf(z.record(z.string().min(1), EditorRule));

/** An unknown key is reported with those that there are, by commas. */
function strict<T extends z.ZodRawShape>(shape: T) {
  const known = Object.keys(shape).join(", ");
  return z.strictObject(shape, { error: ({ code }) => (code === "unrecognized_keys" ? known : undefined) });
}

/** JSON text; none: nothing is set. */
function jsonOf<T extends z.ZodType>(schema: T) {
  return z
    .string()
    .default("{}")
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch (error) {
        context.addIssue(`it is not JSON: ${(error as Error).message}`);
        return z.NEVER;
      }
    })
    .pipe(schema);
}
