/** MCP for Unity (unity-mcp by CoplayDev), up to 10.x: its framed TCP bridge (docs/reference/bridges.md). */

import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { comparablePath } from "../../../shared/editors/target.js";
import type { JsonObjectSchema, ToolDetails } from "../../../shared/tools/tool.js";
import { WrongEditor } from "../../editor/handshake.js";
import {
  createFramedConnection,
  type FramedConnection,
  type FramedConnectionOptions,
} from "../../transport/framed-connection.js";
import {
  type BridgeWire,
  type EditorIdentity,
  type OwnWireEditor,
  type ToolList,
  UnverifiedEditor,
} from "../bridge.js";
import { type BridgeAnswer, errorAnswer, outcomeOf } from "../error-answers.js";
import { createPlainEditor, type PlainEditorDeps } from "../plain-editor.js";
import { COMMANDS, type OfferedCommand } from "./commands.js";

// Reads the answers of MCP for Unity (docs/reference/bridges.md).

/** `command` (a name or "Unknown…") is set only by what hands a command to its handler, and takes its exceptions. */
const Answer = z.looseObject({
  status: z.enum(["success", "error"]),
  result: z.unknown().optional(),
  error: z.string().nullish(),
  command: z.string().nullish(),
});

/** `type`: of the command that it answers. Undefined: not an answer of this bridge. */
export function readAnswer(text: string, type: string): BridgeAnswer | undefined {
  let read: ReturnType<typeof Answer.safeParse>;
  try {
    read = Answer.safeParse(JSON.parse(text));
  } catch {
    return undefined;
  }
  if (!read.success) return undefined;
  const { status, result, error, command } = read.data;
  if (status === "success") return { kind: "result", result: result ?? null };
  const from = command == null ? "connection" : "handler";
  return errorAnswer("unity-mcp", type, { from, texts: [error ?? "an error without a text"] });
}

/** Times in ms. */
export interface UnityMcpOptions {
  connection?: FramedConnectionOptions;
  /** The bridge answers each command after 30 s at the latest; one that is silent for this long is given up. */
  answerTimeoutMs?: number;
  /** The bridge closes a connection that says nothing for 30 s. */
  keepAliveMs?: number;
  /** The pause between two questions whether the main thread answers again. */
  busyPauseMs?: number;
}

/** Kept as long as the worker owns the Editor: outcomes outlive their connection. */
export function createUnityMcpEditor(deps: PlainEditorDeps, options: UnityMcpOptions = {}): OwnWireEditor {
  const editor = createPlainEditor(deps);
  return {
    open(at) {
      const line = createFramedConnection({ ...at, isGreeting }, options.connection);
      const { opened, closed, close } = line;
      return {
        opened,
        closed,
        close,
        greet: (notice) => editor.greet(unityMcpWire(line, deps, options), notice),
      };
    },
  };
}

function isGreeting(line: string): boolean {
  return /^WELCOME UNITY-MCP\b.*\bFRAMING=1\b/.test(line);
}

/** Twice the time after which the bridge answers whatever happens, ms. */
const QUESTION_MS = 60_000;

/** The answer of `get_project_info`. Of its own project an Editor says the same here as in its status file. */
const ProjectInfo = z.looseObject({
  success: z.literal(true),
  data: z.looseObject({
    projectRoot: z.string().max(32_767),
    unityVersion: z.string().max(1_000).optional(),
  }),
});

function unityMcpWire(
  line: FramedConnection,
  { identity, log }: Pick<PlainEditorDeps, "identity" | "log">,
  options: UnityMcpOptions,
): BridgeWire {
  const { answerTimeoutMs = 300_000, keepAliveMs = 10_000, busyPauseMs = 500 } = options;

  const ask = async (type: string, text: string, timeoutMs: number): Promise<BridgeAnswer> => {
    const answer = readAnswer(await line.ask(text, timeoutMs), type);
    if (answer) return answer;
    // Whatever answers there, its next frame may belong to anything.
    void line.close("malformed_frame");
    return { kind: "unclear", message: "something that is not an answer of this bridge" };
  };
  const command = (type: string, params: Record<string, unknown>): Promise<BridgeAnswer> =>
    ask(type, JSON.stringify({ type, params }), answerTimeoutMs);
  /** A command of the worker's own, which takes the bridge no time once the main thread is free. */
  const question = (type: string): Promise<BridgeAnswer> =>
    ask(type, JSON.stringify({ type, params: {} }), Math.min(answerTimeoutMs, QUESTION_MS));

  /** Whatever the main thread answers: by the second answer it has taken up what was sent before. */
  const untilFree = async (): Promise<void> => {
    for (let answers = 0; answers < 2; ) {
      // Unlike the bare word, this waits for the main thread.
      const isBusy = (await question("ping")).kind === "unclear";
      answers = isBusy ? 0 : answers + 1;
      if (isBusy) await delay(busyPauseMs, undefined, { ref: false });
    }
  };

  const keepAlive = setInterval(() => {
    if (!line.isIdle()) return;
    ask("ping", "ping", Math.min(answerTimeoutMs, QUESTION_MS)).catch(() => undefined);
  }, keepAliveMs);
  void line.closed.then(() => clearInterval(keepAlive));

  return {
    bridge: "unity-mcp",
    // A project may replace any command by one of its own name that does more.
    repeatsReads: false,
    closed: line.closed,

    /** Answered on the main thread: what was sent on an earlier connection has been taken up by then. */
    async verify() {
      const answer = await question("get_project_info");
      const data = projectIn(answer, identity);
      line.trust();
      return { unityVersion: data.unityVersion };
    },

    async tools() {
      const answer = await question("get_tool_states");
      if (answer.kind === "unclear") {
        log.warn({ editor: identity.editorId, answer: answer.message }, "the bridge does not list its tools");
      }
      return toolsOf(answer.kind === "result" ? answer.result : undefined);
    },

    async call(tool, args, startedAt) {
      const answer = await command(tool, args);
      // It goes on; with the connection ends what can be known of it.
      if (answer.kind === "unclear") await untilFree().catch(() => undefined);
      return outcomeOf(answer, startedAt, Date.now());
    },
  };
}

const UNSAID: Readonly<Record<BridgeAnswer["kind"], string>> = {
  result: "the answer of get_project_info has a form that is not known",
  refused: "it has no command get_project_info, or that is disabled",
  failed: "its command get_project_info failed",
  unclear: "its main thread did not answer in time",
};

function projectIn(answer: BridgeAnswer, { editorId, projectName, projectPath }: EditorIdentity) {
  const read = ProjectInfo.safeParse(answer.kind === "result" ? answer.result : undefined);
  if (!read.success) {
    // Not in the peer's own words: it is nobody yet.
    throw new UnverifiedEditor(
      `The bridge of ${projectName} does not say which project it serves: ${UNSAID[answer.kind]}. It gets no calls.`,
    );
  }
  const { projectRoot } = read.data.data;
  if (projectPath === undefined || comparablePath(projectRoot) !== comparablePath(projectPath)) {
    const name = basename(projectRoot.replaceAll("\\", "/"));
    throw new WrongEditor(editorId, /^[\w .-]{1,64}$/.test(name) ? name : "another project");
  }
  return read.data.data;
}

// The tools of one Editor: the commands that are known (commands.ts), as far as it has them enabled, and its project's own.

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
function toolsOf(states: unknown): ToolList {
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
