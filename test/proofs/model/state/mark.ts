import type { EditorMark } from "../../../../src/shared/operation/operation.js";
import type { EditorState } from "./state.js";

/** Where the Editor stands, as its heartbeats say. */
export const markOf = ({ session, generation, assets }: EditorState): EditorMark => ({
  editorSessionId: `s${session}`,
  generation,
  assetCounter: assets,
});
