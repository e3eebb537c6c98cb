/** Has it told that an endpoint file is not believed, where callers would wonder why its Editor is not there. */
import { type RefusedFile, troubleOfFile } from "../shared/endpoint-trouble.js";
import type { Log } from "../shared/log.js";
import type { Store } from "../shared/redis/store.js";

export interface RefusedFiles {
  /** Those that are there now; to be called again and again, because what is told is forgotten. Never throws. */
  are(files: readonly RefusedFile[]): void;
  /** Takes back what was told. */
  close(): Promise<void>;
}

export function createRefusedFiles(
  deps: { store: Pick<Store, "editors" | "operations">; log: Log },
  options: { retellMs: number },
): RefusedFiles {
  const { editors, operations } = deps.store;
  /** By Editor: what was told last, and when. */
  const told = new Map<string, { why: string; at: number }>();

  const tell = async (files: readonly RefusedFile[]): Promise<void> => {
    const now = performance.now();
    for (const file of files) {
      const { editorId, why } = file;
      const before = told.get(editorId);
      if (before?.why === why && now - before.at < options.retellMs) continue;
      // Any file may carry any Editor's name: of one that works nothing is said.
      if ((await editors.find(editorId))?.live) continue;
      const at = await operations.now();
      await editors.tellTrouble(editorId, { ...troubleOfFile(file), project: editorId, at });
      told.set(editorId, { why, at: now });
    }
    for (const editorId of [...told.keys()]) {
      if (files.some((file) => file.editorId === editorId)) continue;
      told.delete(editorId);
      await editors.tellTrouble(editorId, undefined);
    }
  };

  let turn: Promise<void> = Promise.resolve();
  const inTurn = (files: readonly RefusedFile[]): void => {
    turn = turn
      .then(() => tell(files))
      .catch((error: Error) => deps.log.warn({ error: error.message }, "telling of refused endpoint files"));
  };
  return {
    are: inTurn,
    async close() {
      inTurn([]);
      await turn;
    },
  };
}
