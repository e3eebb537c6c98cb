/** `unity-broker editors pause|drain|resume|forget <editor>`: what a person says of an Editor, to the store itself. */
import { type ForgetDeps, type ForgetResult, forgetEditor } from "../../../gateway/editors/forget-editor.js";
import { createKnownEditors } from "../../../gateway/editors/known-editors.js";
import { createLastCatalogs } from "../../../gateway/editors/last-catalogs.js";
import { type PauseDeps, pauseEditor, resumeEditor } from "../../../gateway/editors/pause-editor.js";
import { shown } from "../../../gateway/editors/target-error.js";
import { printable, printableJson } from "../../../shared/printable.js";
import { storeFault } from "../../../shared/store/connect.js";
import type { Store } from "../../../shared/store/store.js";
import { UsageError } from "../../command.js";
import type { PAUSES } from "../../declared/asking.js";
import { gatewayOptions } from "../../processes/options.js";
import { startRuntime } from "../../processes/runtime.js";
import { untilNothingRuns } from "./drain.js";

interface Named {
  editor?: string | undefined;
  json: boolean;
}

/** An Editor starts nothing new for a while. `drain` resolves when nothing runs there any more. Rejects with why it was refused; then nothing has changed. */
export function pause(action: (typeof PAUSES)[number], args: Named): Promise<void> {
  return say(action, args, async (deps, named) => {
    const editor = await (action === "resume" ? resumeEditor : pauseEditor)(deps, named);
    if (action === "drain")
      await untilNothingRuns(deps, editor.id, (sentence) => console.error(printable(sentence)));
    return {
      json: { editor: shown([editor])[0], paused: action !== "resume" },
      text: MESSAGES[action](editor.id),
    };
  });
}

/** It will not come back. Rejects with why it was refused; then nothing has changed. */
export function forget(args: Named & { force: boolean }): Promise<void> {
  return say("forget", args, async (deps, named) => {
    const forgotten = await forgetEditor(deps, named, { force: args.force });
    return { json: asJson(forgotten), text: sentences(forgotten) };
  });
}

async function say(
  action: string,
  { editor, json }: Named,
  act: (deps: ForgetDeps & PauseDeps & Store, named: string) => Promise<{ json: object; text: string }>,
): Promise<void> {
  if (editor === undefined) throw new UsageError(`editors ${action}: name the Editor`);
  const runtime = await startRuntime();
  try {
    const { store, log, config, knownEditorsFile: file } = runtime;
    const catalogs = createLastCatalogs({ noteFile: file, log });
    const knownEditors = createKnownEditors({ ...store, log, file, catalogs }, gatewayOptions(config));
    const done = await act({ ...store, knownEditors, log }, editor);
    console.log(json ? printableJson(done.json) : printable(done.text));
  } catch (error) {
    throw storeFault(error) ?? error;
  } finally {
    await runtime.close();
  }
}

const MESSAGES = {
  pause: (id: string) =>
    `${id} is paused: it starts nothing new. What it runs goes on; calls that name it wait.\nResume it:  unity-broker editors resume ${id}`,
  drain: (id: string) =>
    `${id} is paused, and nothing runs there any more.\nResume it:  unity-broker editors resume ${id}`,
  resume: (id: string) => `${id} takes calls again.`,
};

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
