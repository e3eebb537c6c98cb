/** A tool that answers its arguments: for tests that change the catalogue. */
import { parameters, QUICK_ON_MAIN, type SimulatedTool } from "../tool-definition.js";

export function echoTool(name: string, effect: SimulatedTool["effect"] = "read_only"): SimulatedTool {
  return {
    name,
    description: `Answers ${name} and the text that it was given.`,
    inputSchema: parameters({ Text: { type: "string", description: "Any text", default: "" } }),
    effect,
    ...QUICK_ON_MAIN,
    async run({ args }) {
      return { Tool: name, Text: args.text("Text", "") };
    },
  };
}
