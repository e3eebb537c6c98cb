/** `unity-broker editors forget <editor>`: a person says that an Editor will not come back. */
import { type ForgetResult, forgetEditor } from "../../../gateway/editors/forget-editor.js";
import { createKnownEditors } from "../../../gateway/editors/known-editors.js";
import { createLastCatalogs } from "../../../gateway/editors/last-catalogs.js";
import { shown } from "../../../gateway/editors/target-error.js";
import { printable, printableJson } from "../../../shared/printable.js";
import { UsageError } from "../../command.js";
import { gatewayOptions } from "../../processes/options.js";
import { startRuntime } from "../../processes/runtime.js";

/** Rejects with why it was refused; then nothing has changed. */
export async function forget(args: {
  editor?: string | undefined;
  force: boolean;
  json: boolean;
}): Promise<void> {
  if (args.editor === undefined) throw new UsageError("editors forget: name the Editor");
  const runtime = await startRuntime();
  try {
    const { store, log, config, knownEditorsFile: file } = runtime;
    const catalogs = createLastCatalogs({ noteFile: file, log });
    const knownEditors = createKnownEditors({ ...store, log, file, catalogs }, gatewayOptions(config));
    const forgotten = await forgetEditor({ ...store, knownEditors, log }, args.editor, { force: args.force });
    console.log(args.json ? printableJson(asJson(forgotten)) : printable(sentences(forgotten)));
  } finally {
    await runtime.close();
  }
}

function asJson({ editor, ended }: ForgetResult) {
  return {
    editor: shown([editor])[0],
    ended: ended.map(({ logId, tool, state, error }) => ({
      log_id: logId,
      tool,
      state,
      error_code: error?.code,
    })),
  };
}

function sentences({ editor, ended }: ForgetResult): string {
  const lines = ended.map(({ logId, tool, error }) => `${logId}  ${tool}  ${error?.code}: ${error?.message}`);
  return [`${editor.id} is forgotten; ${ended.length} open operation(s) ended.`, ...lines].join("\n");
}
