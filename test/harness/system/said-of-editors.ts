/** What a person may say of an Editor on the command line, said to a test's system. */
import { type ForgetResult, forgetEditor } from "../../../src/gateway/editors/forget-editor.js";
import { createKnownEditors } from "../../../src/gateway/editors/known-editors.js";
import { createLastCatalogs } from "../../../src/gateway/editors/last-catalogs.js";
import { pauseEditor, resumeEditor, runningIn } from "../../../src/gateway/editors/pause-editor.js";
import { SILENT } from "../silent.js";
import type { System } from "./system.js";

function depsOf({ store, knownEditorsFile: file }: System) {
  const options = { forgetEditorMs: 3_600_000, backMs: 0 };
  const catalogs = createLastCatalogs({ noteFile: file, log: SILENT });
  const knownEditors = createKnownEditors({ ...store, log: SILENT, file, catalogs }, options);
  return { ...store, knownEditors, log: SILENT };
}

/** As `unity-broker editors forget` does. */
export function forget(system: System, named: string, force = false): Promise<ForgetResult> {
  return forgetEditor(depsOf(system), named, { force });
}

/** As `unity-broker editors pause`, `resume` and `drain` do. `running`: log_ids. */
export function pausing(system: System, named: string) {
  const deps = depsOf(system);
  return {
    pause: () => pauseEditor(deps, named),
    resume: () => resumeEditor(deps, named),
    running: async () => (await runningIn(deps, named)).map(({ logId }) => logId),
  };
}
