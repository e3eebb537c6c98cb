/** uLoopMCP's bridge, up to 2.x: it answers each tool by its own name, in our framing, and compares the project of each request. */
import { ToolDetailsAnswer } from "../../../shared/tools/tool.js";
import { RpcFailure } from "../../../shared/wire/dialogue.js";
import { failedOutcome } from "../../../shared/wire/uloop.js";
import { UnreadableAnswer } from "../../editor/editor-calls.js";
import type { Connection } from "../../transport/connection.js";
import type { BridgeWire, Greeting, Notice } from "../bridge.js";
import { createPlainEditor, type PlainEditorDeps } from "../plain-editor.js";

export interface UloopEditor {
  /** Uses this connection without hello. */
  greet(line: Connection, notice: Notice): Promise<Greeting>;
}

/** Kept as long as the worker owns the Editor: outcomes outlive their connection. */
export function createUloopEditor(deps: PlainEditorDeps): UloopEditor {
  const editor = createPlainEditor(deps);
  return { greet: (line, notice) => editor.greet(uloopWire(line, deps.identity.projectPath), notice) };
}

function uloopWire(line: Connection, projectPath: string | undefined): BridgeWire {
  const guard = projectPath === undefined ? undefined : { expectedProjectRoot: projectPath };
  return {
    bridge: "uloop",
    repeatsReads: true,
    closed: line.closed,
    /** The bridge compares the project; without one it is whatever listens at the address that was named. */
    async verify(list) {
      if (guard) await list();
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
    free: () => Promise.resolve(),
    async call(tool, args, startedAt) {
      try {
        // No timeout: a tool may take hours, and a late answer still counts.
        const result = await line.request(tool, args, { timeoutMs: "never", guard });
        const endedAt = Date.now();
        return { status: "completed", result, startedAt, endedAt, executionMs: endedAt - startedAt };
      } catch (error) {
        if (error instanceof RpcFailure) return failedOutcome(tool, error, startedAt, Date.now());
        throw error;
      }
    },
  };
}
