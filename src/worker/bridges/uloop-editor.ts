/** uLoopMCP's bridge, up to 2.x: it answers each tool by its own name, in our framing, and compares the project of each request. */
import { ToolDetailsAnswer } from "../../shared/tools/tool.js";
import { RPC_PARSE_ERROR, RPC_UNKNOWN_METHOD, RpcFailure } from "../../shared/wire/rpc.js";
import { detailsOf } from "../../shared/wire/uloop.js";
import { uloopSettings } from "../discovery/configured-editors.js";
import { UnreadableAnswer } from "../editor/editor-calls.js";
import { WrongEditor } from "../editor/handshake.js";
import type { Connection } from "../transport/connection.js";
import {
  type BridgeWire,
  type EditorIdentity,
  type Greeting,
  type Notice,
  UnverifiedEditor,
} from "./bridge.js";
import { type BridgeAnswer, errorAnswer, outcomeOf } from "./error-answers.js";
import { createPlainEditor, type PlainEditorDeps } from "./plain-editor.js";

export interface UloopEditor {
  /** Uses this connection without hello. */
  greet(line: Connection, notice: Notice): Promise<Greeting>;
}

/** Kept as long as the worker owns the Editor: outcomes outlive their connection. */
export function createUloopEditor(deps: PlainEditorDeps): UloopEditor {
  const editor = createPlainEditor(deps);
  return { greet: (line, notice) => editor.greet(uloopWire(line, deps.identity), notice) };
}

function uloopWire(line: Connection, { editorId, projectPath }: EditorIdentity): BridgeWire {
  let guard: object | undefined;
  return {
    bridge: "uloop",
    repeatsReads: true,
    closed: line.closed,
    /** The bridge compares the project; without one it is whatever listens at the address that was named. */
    async verify(list) {
      guard = projectPath === undefined ? undefined : await guardOf(projectPath);
      if (!guard) return {};
      await list().catch((error: Error) => {
        const answer = error instanceof RpcFailure ? refusalOf("get-tool-details", error) : undefined;
        if (answer?.kind !== "refused" || answer.type !== "wrong_project") throw error;
        throw new WrongEditor(editorId, "another project");
      });
      return {};
    },
    async tools(patient) {
      const timeout = patient ? { timeoutMs: "never" as const } : {};
      const said = await line.request(
        "get-tool-details",
        { IncludeDevelopmentOnly: false },
        { ...timeout, guard },
      );
      const read = ToolDetailsAnswer.safeParse(said);
      if (!read.success) throw new UnreadableAnswer("get-tool-details", read.error.message);
      return read.data;
    },
    async call(tool, args, startedAt) {
      // No timeout: a tool may take hours, and a late answer still counts.
      const answer = await line.request(tool, args, { timeoutMs: "never", guard }).then(
        (result): BridgeAnswer => ({ kind: "result", result }),
        (error: Error) => {
          if (error instanceof RpcFailure) return refusalOf(tool, error);
          throw error;
        },
      );
      return outcomeOf(answer, startedAt, Date.now());
    },
  };
}

/** What bridges since 2.0 compare before anything runs; earlier ones write down no session, and compare nothing. */
async function guardOf(projectPath: string): Promise<object | undefined> {
  const { projectRootPath, serverSessionId } = await uloopSettings(projectPath);
  if (serverSessionId === undefined) return undefined;
  if (serverSessionId === "")
    throw new UnverifiedEditor(`uLoopMCP's server does not run in ${projectPath}. It gets no calls.`);
  return { expectedProjectRoot: projectRootPath, expectedServerSessionId: serverSessionId };
}

function refusalOf(tool: string, { code, message, data }: RpcFailure): ReturnType<typeof errorAnswer> {
  const { type, texts } = detailsOf(message, data);
  const kind = typeof type === "string" ? { type } : {};
  return errorAnswer("uloop", tool, { from: originOf(code, type), texts, ...kind });
}

function originOf(code: number, type: unknown) {
  if (code === RPC_PARSE_ERROR) return "unread";
  if (code === RPC_UNKNOWN_METHOD) return "no_method";
  return type === "security_blocked" ? type : "internal_error";
}
