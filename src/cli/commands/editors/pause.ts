/** `unity-broker editors pause|drain|resume <editor>`: an Editor starts nothing new for a while, so that a person may close it. */
import { createKnownEditors } from "../../../gateway/editors/known-editors.js";
import { createLastCatalogs } from "../../../gateway/editors/last-catalogs.js";
import {
  type PauseDeps,
  pauseEditor,
  resumeEditor,
  runningIn,
} from "../../../gateway/editors/pause-editor.js";
import { shown } from "../../../gateway/editors/target-error.js";
import type { OperationRecord } from "../../../shared/operation/operation.js";
import { printable, printableJson } from "../../../shared/printable.js";
import type { Store } from "../../../shared/store/store.js";
import { UsageError } from "../../command.js";
import type { PAUSES } from "../../declared/asking.js";
import { gatewayOptions } from "../../processes/options.js";
import { startRuntime } from "../../processes/runtime.js";

/** In case that a message about an operation was lost, ms. */
const LOOK_AGAIN_MS = 5_000;

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

function sentence(id: string, running: readonly OperationRecord[], isThere: boolean): string {
  const those = running.map(({ tool, logId }) => `${tool} (${logId})`).join(", ");
  const wait = "Ctrl-C ends this wait, not the pause.";
  if (isThere) return `${id} is paused; it still runs ${those}. ${wait}`;
  return `${id} is paused, and not connected; it may have run ${those}, and says so when it is back. If it will not come back: unity-broker editors forget ${id}\n${wait}`;
}

/** Says what runs, and whether the Editor is connected, whenever that has changed. */
function untilNothingRuns(
  deps: PauseDeps & Pick<Store, "notifier">,
  editorId: string,
  say: (sentence: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const end = (error?: unknown): void => {
      clearInterval(timer);
      stop();
      if (error === undefined) resolve();
      else reject(error);
    };
    const look = (): void =>
      void Promise.all([runningIn(deps, editorId), deps.knownEditors.read()]).then(([running, known]) => {
        if (running.length === 0) return end();
        const isThere = known.candidates.some(({ id, connected }) => id === editorId && connected);
        const now = sentence(editorId, running, isThere);
        if (now !== said) say(now);
        said = now;
      }, end);
    const stop = deps.notifier.on("ended", look, look);
    const timer = setInterval(look, LOOK_AGAIN_MS);
    look();
  });
}
