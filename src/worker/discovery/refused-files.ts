/** Reports endpoint files that are not trusted, so that callers learn why an Editor is missing. */
import { diagnoseFile, type RefusedFile } from "../../shared/editors/refused-endpoint.js";
import type { Log } from "../../shared/log.js";
import type { Store } from "../../shared/store/store.js";

export interface RefusedFiles {
  /** The present refused files; call it repeatedly, because a report expires. Never throws. */
  are(files: readonly RefusedFile[]): void;
  /** Withdraws the reports. */
  close(): Promise<void>;
}

export function createRefusedFiles(
  deps: { store: Pick<Store, "editors" | "operations">; log: Log },
  options: { reportAgainMs: number },
): RefusedFiles {
  const { editors, operations } = deps.store;
  /** By Editor: the last report, and its time. */
  const reported = new Map<string, { why: string; at: number }>();

  const report = async (files: readonly RefusedFile[]): Promise<void> => {
    const now = performance.now();
    for (const file of files) {
      const { editorId, why } = file;
      const before = reported.get(editorId);
      if (before?.why === why && now - before.at < options.reportAgainMs) continue;
      // A file may carry any Editor's name: nothing is reported of an Editor that works.
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
