/** A tool that answers its arguments: for catalogues that change while somebody watches. */
import { parameters, type SimulatedTool } from "../tool-definition.js";

export function echoTool(name: string, effect: SimulatedTool["effect"] = "read_only"): SimulatedTool {
  return {
    name,
    description: `Answers ${name} and the text that it was given.`,
    inputSchema: parameters({ Text: { type: "string", description: "Any text", default: "" } }),
    effect,
    lane: "main",
    resumable: false,
    cancellable: false,
    executionClass: "quick",
    blocksMainThread: true,
    async run({ args }) {
      return { Tool: name, Text: args.text("Text", "") };
    },
  };
}
