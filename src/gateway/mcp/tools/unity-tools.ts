/**
 * Unity's tools for clients that never read tools/list again: `list_unity_tools` and `call_unity_tool`. A call through
 * them is the call itself: the same operation, the same rights, the same question to the user.
 */
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import { head } from "../../../shared/printable.js";
import { offerParameters } from "../../../shared/tools/call-rules.js";
import { type PortableSchema, portableSchema } from "../../../shared/tools/portable-schema.js";
import { define } from "./broker-tool.js";

/** The most of a description in a list of all tools, characters. */
const BRIEF = 200;

export const LIST_UNITY_TOOLS = define(
  "list_unity_tools",
  "Lists the tools that the Editors have now. Use it if your own list lacks Unity's; call_unity_tool calls one.",
  z.object({
    tool: z.string().optional().describe("One tool: shows its arguments."),
  }),
  { readOnly: true },
  async ({ tool: named }, { broker, principal, limits }) => {
    const [offered, known] = await Promise.all([broker.tools(principal), broker.editors(principal)]);
    const several = known.editors.length + known.noted.length > 1;
    const there = new Set(
      known.editors.flatMap(({ profile, connected }) => (connected ? profile.editorId : [])),
    );
    const found = named === undefined ? offered : offered.filter(({ name }) => name === named);
    if (named !== undefined && found.length === 0) {
      const names = offered.map(({ name }) => name);
      throw new BrokerError(
        "INVALID_ARGUMENTS",
        `There is no tool "${head(named, 100)}"; there are: ${names.join(", ")}.`,
        { faults: [{ path: "/tool", reason: "no Editor has this tool" }] },
      );
    }
    const tools = found
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((tool) => ({
        name: tool.name,
        editors: tool.editors,
        ...unlisted(portableSchema(tool)),
        ...(tool.editors.some((editor) => there.has(editor)) ? {} : { connected: false }),
        ...(named === undefined
          ? { description: brief(tool.description) }
          : {
              description: tool.description,
              inputSchema: offerParameters(tool, { several, waits: limits.waits }),
            }),
      }));
    const how =
      named === undefined
        ? "Pass `tool` to see the arguments of one, and call it with call_unity_tool."
        : "Call it with call_unity_tool.";
    const isAway = tools.some(({ connected }) => connected === false);
    const away = isAway
      ? " Those with connected: false are of an Editor that is closed: a call waits for it."
      : "";
    const few = tools.some((tool) => "not_in_list" in tool)
      ? " Those with not_in_list are missing from lists for models, and can be called this way only."
      : "";
    return { status: "completed", tools, message: `${tools.length} tool(s). ${how}${away}${few}` };
  },
);

export const CALL_UNITY_TOOL = define(
  "call_unity_tool",
  "Calls a Unity tool by its name, as if it were called directly. Use it for tools that your own list lacks (list_unity_tools).",
  z.strictObject({
    tool: z.string().min(1).describe("The tool's name."),
    arguments: z.record(z.string(), z.unknown()).default({}),
    timeout: z.number().optional(),
    editor: z.string().optional().describe("If there are several."),
    idempotency_key: z.string().optional().describe("The same when you retry."),
    force_new: z.string().optional().describe("To run it again: its log_id."),
  }),
  { readOnly: false, waitSeconds: "standard" },
  ({ tool, arguments: args, ...parameters }, { callUnityTool }) => callUnityTool(tool, args, parameters),
);

const unlisted = (portable: PortableSchema): { not_in_list?: string } =>
  "reason" in portable ? { not_in_list: portable.reason } : {};

function brief(description: string): string {
  const [line = ""] = description.split("\n");
  return line.length > BRIEF ? `${head(line, BRIEF)}…` : line;
}
