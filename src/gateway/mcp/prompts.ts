/** The prompts: they teach a client how to start, wait and read. What `prompts/list` and `prompts/get` answer. */
import type { GetPromptResult, Prompt, PromptArgument } from "@modelcontextprotocol/server";
import { BrokerError } from "../../shared/errors.js";
import { head } from "../../shared/printable.js";
import type { WaitLimits } from "../../shared/wait-time.js";

interface Template extends Prompt {
  arguments: PromptArgument[];
  /** `{name}` stands for the argument of that name, `{most_seconds}` for the longest wait. */
  text: string;
}

const TOOL = { name: "tool", description: "The Unity tool, such as run-tests.", required: true };
const LOG_ID = { name: "log_id", description: "The log_id of the answer.", required: true };

const TEMPLATES: readonly Template[] = [
  {
    name: "start_and_wait",
    title: "Start a long Unity call, wait, read its result",
    description: "Runs a tool that takes long (tests, a build) and reports its result.",
    arguments: [TOOL, { name: "arguments", description: "Its arguments, as JSON.", required: false }],
    text: [
      "Run the Unity tool {tool} with the arguments {arguments} and report its result.",
      "",
      "1. Call it once, with timeout: {most_seconds}.",
      '2. If the answer has status "timeout", it goes on in Unity. Tell me so, and note its log_id. Do not call it again, and do not restart Unity.',
      "3. Read it with get_operation_result (log_id, wait: true, timeout: {most_seconds}). While it runs, tell me its progress and partial_result, and repeat this.",
      "4. Report the result. If the answer is cached: true, read what you need of it with fetch_cached_response.",
      "5. If the answer is deduplicated, say when it was executed: it is not new.",
    ].join("\n"),
  },
  {
    name: "after_a_timeout",
    title: "Read what a call came to after its wait ended",
    description: "Finds and reads an operation whose answer was a timeout, or was lost.",
    arguments: [{ ...LOG_ID, required: false }],
    text: [
      "The wait for a Unity call ended, or its answer was lost. The call itself goes on, or has ended. Find out which, without sending it again.",
      "",
      "1. Its log_id: {log_id}. If there is none, find it with list_operations.",
      "2. Read it with get_operation_result (log_id, wait: true, timeout: {most_seconds}), and again for as long as it is running.",
      "3. Report the outcome. With error_code OUTCOME_UNKNOWN nobody knows whether it ran: look at the project, tell me what you see, and ask before you run it again.",
      "4. If it is not wanted any more, cancel_operation (log_id) ends it. Giving up the wait does not.",
    ].join("\n"),
  },
  {
    name: "run_again",
    title: "Run the same call again, on purpose",
    description: "Runs a call once more although its outcome is known.",
    arguments: [TOOL, LOG_ID],
    text: [
      "Run the Unity tool {tool} once more, with the same arguments as the operation {log_id}, on purpose.",
      "",
      "1. Read that one with get_operation_result (log_id). While it runs, wait for its end.",
      "2. Reads, run-tests and compile: just call the tool again; it runs.",
      '3. Any other tool: call it with the same arguments and force_new: "{log_id}". If that is refused, the answer has the value to use and the newest outcome: ask me before you use it.',
      '4. If the new answer has status "timeout", read it by its own log_id. The same call with the same force_new finds this run, and starts no third one.',
    ].join("\n"),
  },
];

export const PROMPTS: readonly Prompt[] = TEMPLATES.map(({ text: _text, ...prompt }) => prompt);

/** Throws INVALID_ARGUMENTS for a prompt that does not exist, or without an argument that it needs. */
export function filledPrompt(
  name: string,
  given: Readonly<Record<string, string>>,
  { mostSeconds }: Pick<WaitLimits, "mostSeconds">,
): GetPromptResult {
  const template = TEMPLATES.find((one) => one.name === name);
  if (!template) {
    const names = TEMPLATES.map((one) => one.name).join(", ");
    const message = `There is no prompt "${head(name, 100)}"; there are: ${names}.`;
    throw new BrokerError("INVALID_ARGUMENTS", message);
  }
  const missing = template.arguments.filter((argument) => argument.required && !given[argument.name]);
  if (missing.length > 0) {
    const names = missing.map((argument) => argument.name).join(", ");
    throw new BrokerError("INVALID_ARGUMENTS", `The prompt ${name} needs ${names}.`);
  }
  const values = new Map(
    template.arguments.map((argument) => [argument.name, given[argument.name] || "(none)"]),
  );
  values.set("most_seconds", String(mostSeconds));
  // In one pass: what an argument says is no template.
  const text = template.text.replace(/\{(\w+)\}/g, (place, of: string) => values.get(of) ?? place);
  return {
    description: template.description,
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}

//

/** What a model is told of the broker once; answers do not repeat it. */
export const instructions = ({
  standardSeconds,
  mostSeconds,
}: WaitLimits): string => `Tools run in a Unity Editor. Every call becomes one operation with a log_id, and is executed at most once.
\`timeout\` says how many seconds to wait for the outcome (default ${standardSeconds}, at most ${mostSeconds}): for tests, compilation and builds pass ${mostSeconds}. An answer with status "timeout" means that the operation goes on: read it with get_operation_result (log_id, wait: true, timeout: ${mostSeconds}). Do not send the call again, and do not restart Unity.
Reads, run-tests and compile run with every new call: after an edit, just call them again. The same call of any other tool joins the operation in flight. Once you have its outcome, it runs again; an outcome that you may not have is answered first ("Not run again"), and its log_id as force_new runs it at once. When you retry after a lost answer, send the same idempotency_key.
OUTCOME_UNKNOWN means that nobody knows whether it ran: look at the project first. cancel_operation cancels; giving up a call does not. list_operations finds a lost log_id.
With several Unity Editors name one in \`editor\`, or choose one with select_editor; list_editors shows them. If your list of tools lacks Unity's, list_unity_tools shows them and call_unity_tool calls one.
An answer with "cached": true has a large result: fetch_cached_response reads a page or a part of it; nothing runs again.`;
