import { type ForgetResult, forgetEditor } from "../../../src/gateway/editors/forget-editor.js";
import { createKnownEditors } from "../../../src/gateway/editors/known-editors.js";
import { createLastCatalogs } from "../../../src/gateway/editors/last-catalogs.js";
import { SILENT } from "../silent.js";
import type { System } from "./system.js";

/** As `unity-broker editors forget` does. */
export function forget(
  { store, knownEditorsFile: file }: System,
  named: string,
  force = false,
): Promise<ForgetResult> {
  const options = { editorAwayMs: 5_000, forgetEditorMs: 3_600_000, backMs: 0 };
  const catalogs = createLastCatalogs({ noteFile: file, log: SILENT });
  const knownEditors = createKnownEditors({ ...store, log: SILENT, file, catalogs }, options);
  return forgetEditor({ ...store, knownEditors, log: SILENT }, named, { force });
}
