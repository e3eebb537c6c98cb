/** The tools of one Editor: the commands that are known (commands.ts), as far as it has them enabled, and its project's own. */
import { z } from "zod";
import type { JsonObjectSchema, ToolDetails } from "../../../shared/tools/tool.js";
import type { ToolList } from "../bridge.js";
import { COMMANDS, type OfferedCommand } from "./commands.js";

/** The answer of `get_tool_states`; an older bridge has no such command. */
const ToolStates = z.looseObject({
  data: z.looseObject({
    tools: z.array(
      z.looseObject({
        name: z.string(),
        enabled: z.boolean().default(true),
        description: z.string().nullish(),
        /** False: neither the bridge's own assembly nor its namespace holds it. */
        is_built_in: z.boolean().default(true),
        parameters: z
          .array(
            z.looseObject({
              name: z.string(),
              description: z.string().nullish(),
              type: z.string().nullish(),
              required: z.boolean().default(false),
            }),
          )
          .default([]),
      }),
    ),
  }),
});
/** As in `get-tool-details`. */
type Described = Pick<ToolDetails, "name" | "description" | "inputSchema" | "annotations" | "executionClass">;
type ToolState = z.infer<typeof ToolStates>["data"]["tools"][number];

/** Commands that the Editor registers as resources, which it does not list. */
const RESOURCES = new Set(["get_editor_state"]);
const TYPES = new Set(["string", "integer", "number", "boolean", "array", "object"]);

/** `states`: what the Editor answered; if that is nothing known, all known commands are offered. */
export function toolsOf(states: unknown): ToolList {
  const read = ToolStates.safeParse(states);
  if (!read.success) return { Tools: COMMANDS.map(described) };
  const { tools } = read.data.data;
  const stateOf = new Map(tools.map((tool) => [tool.name, tool]));
  // A project's own command replaces one of the same name, and may do anything.
  const known = COMMANDS.filter(({ name }) => {
    const state = stateOf.get(name);
    return state ? state.enabled && state.is_built_in : RESOURCES.has(name);
  });
  const own = tools.filter(({ enabled, is_built_in }) => enabled && !is_built_in);
  return { Tools: [...known.map(described), ...own.map(describedByItself)] };
}

function described({ name, description, inputSchema, reads, long }: OfferedCommand): Described {
  return {
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: reads === true, idempotentHint: reads === true },
    ...(long ? { executionClass: "medium" } : {}),
  };
}

/** Nothing says what it changes: it counts as one that changes the project, whatever its name. */
function describedByItself({ name, description, parameters }: ToolState): Described {
  const properties = Object.fromEntries(
    parameters.map((parameter) => [
      parameter.name,
      {
        ...(TYPES.has(parameter.type ?? "") ? { type: parameter.type } : {}),
        ...(parameter.description ? { description: parameter.description } : {}),
      },
    ]),
  );
  const required = parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name);
  const inputSchema: JsonObjectSchema = {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
  return {
    name,
    description: description ?? "",
    inputSchema,
    annotations: { readOnlyHint: false, idempotentHint: false },
  };
}
