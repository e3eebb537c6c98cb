/** Reports endpoint files that are not believed, where callers would wonder why an Editor is not there. */
import { diagnoseFile, type RefusedFile } from "../../shared/editors/refused-endpoint.js";
import type { Log } from "../../shared/log.js";
import type { Store } from "../../shared/store/store.js";

export interface RefusedFiles {
  /** Those that are there now; to be called again and again, because a report stands for a while only. Never throws. */
  are(files: readonly RefusedFile[]): void;
  /** Takes the reports back. */
  close(): Promise<void>;
}

export function createRefusedFiles(
  deps: { store: Pick<Store, "editors" | "operations">; log: Log },
  options: { reportAgainMs: number },
): RefusedFiles {
  const { editors, operations } = deps.store;
  /** By Editor: what was reported last, and when. */
  const reported = new Map<string, { why: string; at: number }>();

  const report = async (files: readonly RefusedFile[]): Promise<void> => {
    const now = performance.now();
    for (const file of files) {
      const { editorId, why } = file;
      const before = reported.get(editorId);
      if (before?.why === why && now - before.at < options.reportAgainMs) continue;
      // Any file may carry any Editor's name: of one that works nothing is said.
      if ((await editors.find(editorId))?.live) continue;
      const at = await operations.now();
      await editors.reportDiagnosis(editorId, { ...diagnoseFile(file), project: editorId, at });
      reported.set(editorId, { why, at: now });
    }
    for (const editorId of [...reported.keys()]) {
      if (files.some((file) => file.editorId === editorId)) continue;
      reported.delete(editorId);
      await editors.reportDiagnosis(editorId, undefined);
    }
  };

  let turn: Promise<void> = Promise.resolve();
  const inTurn = (files: readonly RefusedFile[]): void => {
    turn = turn
      .then(() => report(files))
      .catch((error: Error) => deps.log.warn({ error: error.message }, "reporting refused endpoint files"));
  };
  return {
    are: inTurn,
    async close() {
      inTurn([]);
      await turn;
    },
  };
}
