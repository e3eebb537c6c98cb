/** What there is to call: Editors, pools and tools. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import { shownEditors } from "../../mcp/tools/shown-editors.js";
import type { OfferedTool } from "../../tools/catalog.js";
import { NOT_KEPT } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { named } from "../schemas/described.js";
import type { RouteDeps } from "./submit.js";

const Editor = named(
  "Editor",
  z.looseObject({
    id: z.string(),
    project: z.string(),
    project_path: z.string(),
    connected: z.boolean(),
    paused: z.boolean().optional(),
    labels: z.array(z.string()).optional(),
  }),
);

const Editors = z.strictObject({
  editors: z.array(Editor),
  unreached: z
    .array(z.looseObject({ id: z.string(), project: z.string() }))
    .optional()
    .describe("Found on a worker's machine, but without an answer yet."),
});

const Tool = named(
  "Tool",
  z.strictObject({
    name: z.string(),
    description: z.string(),
    editors: z.array(z.string()),
    effect: z.enum(["read_only", "repeatable", "mutating"]),
    input_schema: z.looseObject({}).describe("JSON Schema of its arguments."),
  }),
);

const ByName = z.strictObject({ name: z.string().max(200) });
const ByEditor = z.strictObject({
  id: z.string().max(200).describe("An id, its unique beginning, or a project's name."),
});

export function editorRoutes(app: FastifyInstance, { broker, exchanges }: RouteDeps): void {
  addRoute(app, exchanges, {
    method: "GET",
    url: "/editors",
    summary: "Lists the Editors that you may use",
    tag: "Editors",
    answers: { 200: json("Connected or not.", Editors) },
    async handle(_input, { principal }) {
      const { connected: _connected, ...shown } = await shownEditors(broker, principal.id);
      return { status: 200, body: shown, headers: NOT_KEPT };
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/editors/:id",
    summary: "Shows one Editor",
    tag: "Editors",
    params: ByEditor,
    answers: { 200: json("The Editor.", Editor) },
    errors: ["EDITOR_UNKNOWN", "EDITOR_AMBIGUOUS", "NO_EDITOR"],
    async handle({ params: { id: given } }, { principal }) {
      const { id } = await broker.editor(principal.id, given);
      const { editors } = await shownEditors(broker, principal.id);
      const body = editors.find((each) => each.id === id);
      if (!body) throw new BrokerError("EDITOR_UNKNOWN", `The Editor ${id} was forgotten.`);
      return { status: 200, body, headers: NOT_KEPT };
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/tools",
    summary: "Lists the tools that you may call",
    tag: "tools",
    answers: { 200: json("Sorted by name.", z.strictObject({ tools: z.array(Tool) })) },
    async handle(_input, { principal }) {
      const tools = (await broker.tools(principal.id)).map(shownTool);
      return {
        status: 200,
        body: { tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)) },
        headers: NOT_KEPT,
      };
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/tools/:name",
    summary: "Shows one tool",
    tag: "tools",
    params: ByName,
    answers: { 200: json("The tool.", Tool) },
    errors: ["UNKNOWN_TOOL"],
    async handle({ params: { name } }, { principal }) {
      const tool = (await broker.tools(principal.id)).find((each) => each.name === name);
      if (!tool) throw new BrokerError("UNKNOWN_TOOL", `There is no tool "${name}".`);
      return { status: 200, body: shownTool(tool), headers: NOT_KEPT };
    },
  });
}

function shownTool({ name, description, editors, effect, inputSchema }: OfferedTool): z.input<typeof Tool> {
  return { name, description, editors, effect, input_schema: { ...inputSchema } };
}
