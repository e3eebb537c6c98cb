/**
 * The one interface of the bridges that keep no ledger. An adapter (a folder beside this file) speaks a bridge's wire and says
 * what its answers mean. Everything that keeps a call from being sent twice is common to all: plain-editor.ts.
 */
import type { z } from "zod";
import type { Log } from "../../shared/telemetry.js";
import type { ToolDetailsAnswer } from "../../shared/tools/tool.js";
import type { HelloResult, Outcome, PlainBridge } from "../../shared/wire/wire.js";
import type { EditorCalls } from "../editor/editor-calls.js";
import type { DisconnectReason } from "../transport/disconnect.js";

/** The identity of such an Editor, which it does not report itself. */
export interface EditorIdentity {
  editorId: string;
  projectName: string;
  /** The project that is meant, if known: another one may have taken the Editor's port. */
  projectPath: string | undefined;
}

/** An Editor whose bridge keeps no ledger, as discovery knows it. */
export interface PlainIdentity extends EditorIdentity {
  bridge: PlainBridge;
}

export type ToolList = z.infer<typeof ToolDetailsAnswer>;

/** Receives what a bridge with a ledger would have notified. */
export type Notice = (method: string, params: object) => void;

/** What a hello would have said, and the requests that the bridge can answer. */
export interface Greeting {
  hello: HelloResult;
  calls: EditorCalls;
}

/**
 * One connection to such a bridge. Every method sends each of its requests once, and rejects ConnectionLost with `sent` as in
 * disconnect.ts. At most one `call` or patient `tools` is under way.
 */
export interface BridgeWire {
  readonly bridge: PlainBridge;
  /** Whether a read whose connection was lost is sent again; otherwise its outcome is unknown, like that of any call. */
  readonly repeatsReads: boolean;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<DisconnectReason>;
  /**
   * Called before anything runs; rejects unless the Editor that was meant answers, as far as the wire can tell. `list` asks
   * for the tools, as the worker does later.
   */
  verify(list: () => Promise<ToolList>): Promise<{ unityVersion?: string | undefined }>;
  /** `patient`: as long as the connection lasts. */
  tools(patient: boolean): Promise<ToolList>;
  /**
   * The call's end as the bridge answers it: `interrupted` whenever the answer does not say that it ended; then the Editor can
   * take another one. Rejects if there was no answer that could be read.
   */
  call(tool: string, args: Record<string, unknown>, startedAt: number): Promise<Outcome>;
}

/** A connection of a bridge that does not speak JSON-RPC as ours does; see Connection for the members' meaning. */
export interface OwnWire {
  readonly opened: Promise<void>;
  readonly closed: Promise<DisconnectReason>;
  close(reason?: DisconnectReason): Promise<void>;
  /** Use it once, after `opened`. */
  greet(notice: Notice): Promise<Greeting>;
}

/** An Editor whose bridge has a wire of its own. */
export interface OwnWireEditor {
  open(at: { host: string; port: number; log: Log }): OwnWire;
}

/** The bridge does not say which project it serves, so nothing is sent to it. */
export class UnverifiedEditor extends Error {
  override readonly name = "UnverifiedEditor";
}
