/**
 * The tools of the C# bridge, as its own tests write them into catalogue.json. The simulator takes each tool's
 * description from there, and adds nothing but parameters of its own, which begin with `Simulated`.
 */
import { readFileSync } from "node:fs";
import { CODE, packageFile } from "../../shared/package-file.js";
import { type JsonObjectSchema, ToolDetails } from "../../shared/tools/tool.js";
import type { SimulatedTool } from "../tool-definition.js";

/** Every entry of the C# bridge's `get-tool-details`. */
export const BRIDGE_TOOLS: readonly ToolDetails[] = ToolDetails.array().parse(
  JSON.parse(readFileSync(packageFile(`${CODE}/simulator/catalogue/catalogue.json`), "utf8")),
);

interface Behaviour extends Pick<SimulatedTool, "label" | "run"> {
  /** Parameters that steer the simulation, without the prefix `Simulated`. What they do is for readers here, not for models. */
  simulated?: Record<string, Record<string, unknown> & { description: string }>;
}

/** A tool that the bridge has too: described as there, with this behaviour. */
export function bridgeTool(name: string, { simulated = {}, ...behaviour }: Behaviour): SimulatedTool {
  const details = BRIDGE_TOOLS.find((tool) => tool.name === name);
  if (!details) throw new Error(`The bridge's catalogue has no tool ${name}.`);
  const { annotations = {}, lane = "main", resumable = false } = details;
  const schema = details.inputSchema as JsonObjectSchema;
  const knobs = Object.entries(simulated).map(([knob, { description, default: _default, ...rest }]) => [
    `Simulated${knob}`,
    rest,
  ]);
  return {
    name,
    description: details.description,
    inputSchema: { ...schema, properties: { ...schema.properties, ...Object.fromEntries(knobs) } },
    effect: annotations.readOnlyHint ? "read_only" : annotations.idempotentHint ? "idempotent" : "mutating",
    destructive: annotations.destructiveHint ?? false,
    openWorld: annotations.openWorldHint ?? false,
    lane,
    resumable,
    cancellable: details.cancellable ?? false,
    executionClass: details.executionClass ?? "quick",
    // What survives a domain reload leaves the main thread to the Editor between its steps.
    blocksMainThread: lane === "main" && !resumable,
    ...behaviour,
  };
}
