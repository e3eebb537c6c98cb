/** What there is to call: Editors, pools and tools. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import { STATES } from "../../../shared/operation/operation.js";
import type { OfferedTool } from "../../catalog.js";
import { shown } from "../../editors/target-error.js";
import { shownEditors } from "../../mcp/tools/shown-editors.js";
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
  refuses_calls: z
    .strictObject({ error_code: z.string(), message: z.string() })
    .optional()
    .describe("Why no new call is accepted."),
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

const There = z.strictObject({ id: z.string(), connected: z.boolean() });

const Pools = z.strictObject({
  pools: z.array(
    named(
      "Pool",
      z.strictObject({
        pool: z.string().describe("As a call names it."),
        editors: z.array(There),
        waiting: z.int().describe("Operations that no Editor has taken yet."),
      }),
    ),
  ),
});

const Workers = z.strictObject({
  workers: z.array(
    named(
      "Worker",
      z.strictObject({ host: z.string(), pid: z.int(), version: z.string(), editors: z.array(There) }),
    ),
  ),
  unowned: z.array(z.string()).describe("Editors without a worker."),
});

const Briefly = z.strictObject({ log_id: z.string(), tool: z.string(), state: z.enum(STATES) });

const Acted = z.strictObject({
  editor: z.looseObject({ id: z.string() }),
  paused: z.boolean(),
  running: z.array(Briefly).optional().describe("Of drain: ask again until it is empty."),
});

const Forgotten = z.strictObject({ editor: z.looseObject({ id: z.string() }), ended: z.array(Briefly) });

const ACTS = {
  pause: "Pauses an Editor: it starts nothing new, and what it runs goes on",
  resume: "Ends an Editor's pause",
  drain: "Pauses an Editor, and shows what still runs there",
} as const;

const OPERATED = ["FORBIDDEN", "EDITOR_UNKNOWN", "EDITOR_AMBIGUOUS", "NO_EDITOR"] as const;

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
  for (const act of ["pause", "resume", "drain"] as const) {
    addRoute(app, exchanges, {
      method: "POST",
      url: `/editors/:id/${act}`,
      summary: ACTS[act],
      tag: "operators",
      params: ByEditor,
      answers: { 200: json("The Editor, and what may still run there.", Acted) },
      errors: OPERATED,
      async handle({ params: { id } }, { principal }) {
        const { operate } = broker;
        const done =
          act === "drain"
            ? await operate.drain(principal.id, id)
            : { editor: await operate[act](principal.id, id), running: undefined };
        const [editor] = shown([done.editor]);
        const running = done.running?.map(({ logId, tool, state }) => ({ log_id: logId, tool, state }));
        const body = { editor, paused: act !== "resume", ...(running ? { running } : {}) };
        return { status: 200, body, headers: NOT_KEPT };
      },
    });
  }
  addRoute(app, exchanges, {
    method: "DELETE",
    url: "/editors/:id",
    summary: "Forgets an Editor that will not come back: its open operations end",
    tag: "operators",
    params: ByEditor,
    query: z.strictObject({
      force: z
        .enum(["true", "false"])
        .optional()
        .describe("Even while its worker waits for it to reconnect."),
    }),
    answers: { 200: json("What ended with it.", Forgotten) },
    errors: [...OPERATED, "EDITOR_CONNECTED"],
    async handle({ params: { id }, query: { force } }, { principal }) {
      const { editor, ended } = await broker.operate.forget(principal.id, id, force === "true");
      const rows = ended.map(({ logId, tool, state }) => ({ log_id: logId, tool, state }));
      return { status: 200, body: { editor: shown([editor])[0], ended: rows }, headers: NOT_KEPT };
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/pools",
    summary: "Lists the pools: labels of Editors, and what waits for them",
    tag: "Editors",
    answers: { 200: json("Sorted by name.", Pools) },
    async handle(_input, { principal }) {
      return { status: 200, body: { pools: await broker.operate.pools(principal.id) }, headers: NOT_KEPT };
    },
  });
  addRoute(app, exchanges, {
    method: "GET",
    url: "/workers",
    summary: "Lists the workers that own the Editors that you may use",
    tag: "Editors",
    answers: { 200: json("Where they run, and in which version.", Workers) },
    async handle(_input, { principal }) {
      return { status: 200, body: await broker.operate.workers(principal.id), headers: NOT_KEPT };
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
