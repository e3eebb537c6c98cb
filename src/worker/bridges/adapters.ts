/** Which adapter drives which bridge. */
import type { OwnWireEditor, PlainIdentity } from "./bridge.js";
import type { PlainEditorDeps } from "./plain-editor.js";
import { createUloopEditor, type UloopEditor } from "./uloop-editor.js";
import { createUnityMcpEditor, type UnityMcpOptions } from "./unity-mcp/unity-mcp-editor.js";

export interface BridgeOptions {
  unityMcp?: UnityMcpOptions;
}

export interface BridgeAdapter {
  /** The bridge speaks JSON-RPC in our framing, so ours may answer in its place: it is asked first. */
  uloop?: UloopEditor;
  /** The bridge has a wire of its own. */
  ownWire?: OwnWireEditor;
}

export function adapterFor(
  deps: PlainEditorDeps & { identity: PlainIdentity },
  options: BridgeOptions,
): BridgeAdapter {
  switch (deps.identity.bridge) {
    case "uloop":
      return { uloop: createUloopEditor(deps) };
    case "unity-mcp":
      return { ownWire: createUnityMcpEditor(deps, options.unityMcp) };
  }
}
