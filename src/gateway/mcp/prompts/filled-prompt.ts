/** A prompt with its arguments filled in: what `prompts/get` answers. */
import type { GetPromptResult, Prompt, PromptMessage } from "@modelcontextprotocol/server";
import { BrokerError } from "../../../shared/errors.js";

/** What `prompts/list` tells of a prompt, and its messages with the places of its arguments. */
export interface OfferedPrompt extends Prompt {
  messages: PromptMessage[];
  /** What stands where an optional argument was not given. */
  absent: string;
}

/** `{name}` is the place of an argument, `{{name}}` stands for the text `{name}`. */
const PLACE = /\{\{([\w.-]+)\}\}|\{([\w.-]+)\}/g;

/** The most that arguments may add to a prompt, characters: one may stand in it many times. */
const MOST_FILLED = 4 * 1024 * 1024;

/** Throws INVALID_ARGUMENTS without an argument that the prompt needs, and for arguments that are too long for it. */
export function filledPrompt(
  { name, description, arguments: known = [], messages, absent }: OfferedPrompt,
  given: Readonly<Record<string, string>>,
): GetPromptResult {
  const givenAs = (argument: string): string => (Object.hasOwn(given, argument) && given[argument]) || "";
  const missing = known.filter((argument) => argument.required && givenAs(argument.name) === "");
  if (missing.length > 0) {
    const names = missing.map((argument) => argument.name).join(", ");
    throw new BrokerError("INVALID_ARGUMENTS", `The prompt ${name} needs ${names}.`);
  }
  const values = new Map(known.map((argument) => [argument.name, givenAs(argument.name) || absent]));
  let room = MOST_FILLED;
  // In one pass: what an argument says is no template.
  const fill = (text: string): string =>
    text.replace(PLACE, (whole, quoted: string | undefined, argument: string | undefined) => {
      if (quoted !== undefined) return values.has(quoted) ? `{${quoted}}` : whole;
      const value = values.get(argument ?? "");
      if (value === undefined) return whole;
      room -= value.length;
      if (room >= 0) return value;
      throw new BrokerError("INVALID_ARGUMENTS", `The arguments of the prompt ${name} are too long.`);
    });
  return {
    ...(description === undefined ? {} : { description }),
    messages: messages.map((message) => ({ ...message, content: filledContent(message.content, fill) })),
  };
}

function filledContent(
  content: PromptMessage["content"],
  fill: (text: string) => string,
): PromptMessage["content"] {
  if (content.type === "text") return { ...content, text: fill(content.text) };
  if (content.type !== "resource") return content;
  const { resource } = content;
  const uri = fill(resource.uri);
  return {
    ...content,
    resource: "text" in resource ? { ...resource, uri, text: fill(resource.text) } : { ...resource, uri },
  };
}
