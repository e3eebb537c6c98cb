/** `unity-broker editors pause|drain|resume <editor>`: an Editor starts nothing new for a while, so that a person may close it. */
import { createKnownEditors } from "../../../gateway/editors/known-editors.js";
import { createLastCatalogs } from "../../../gateway/editors/last-catalogs.js";
import { type PauseDeps, pauseEditor, resumeEditor } from "../../../gateway/editors/pause-editor.js";
import { shown } from "../../../gateway/editors/target-error.js";
import { printable, printableJson } from "../../../shared/printable.js";
import { UsageError } from "../../command.js";
import type { PAUSES } from "../../declared/asking.js";
import { gatewayOptions } from "../../processes/options.js";
import { startRuntime } from "../../processes/runtime.js";
import { untilNothingRuns } from "./drain.js";

/** `drain` resolves when nothing runs there any more. Rejects with why it was refused; then nothing has changed. */
export async function pause(
  action: (typeof PAUSES)[number],
  args: { editor?: string | undefined; json: boolean },
): Promise<void> {
  if (args.editor === undefined) throw new UsageError(`editors ${action}: name the Editor`);
  const runtime = await startRuntime();
  try {
    const { store, log, config, knownEditorsFile: file } = runtime;
    const catalogs = createLastCatalogs({ noteFile: file, log });
    const knownEditors = createKnownEditors({ ...store, log, file, catalogs }, gatewayOptions(config));
    const deps: PauseDeps = { ...store, knownEditors, log };
    const editor = await (action === "resume" ? resumeEditor : pauseEditor)(deps, args.editor);
    if (action === "drain")
      await untilNothingRuns({ ...deps, notifier: store.notifier }, editor.id, (sentence) =>
        console.error(printable(sentence)),
      );
    const answer = { editor: shown([editor])[0], paused: action !== "resume" };
    console.log(args.json ? printableJson(answer) : printable(MESSAGES[action](editor.id)));
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
