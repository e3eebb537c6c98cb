/** Copies an Editor's tools into the store, so that tools/list never waits for Unity. */
import type { Log } from "../shared/log.js";
import type { Store } from "../shared/redis/store.js";
import { completeTool } from "../shared/tool.js";
import type { EditorCalls } from "./editor-calls.js";

export interface CatalogSync {
  /** Asks for the tools and publishes them if they changed; a failure is logged, the last known tools stay. */
  sync(calls: Pick<EditorCalls, "toolDetails">): Promise<void>;
}

export function createCatalogSync(store: Store, editorId: string, log: Log): CatalogSync {
  return {
    async sync(calls) {
      try {
        const { Tools } = await calls.toolDetails();
        const changed = await store.editors.publishTools(editorId, Tools.map(completeTool));
        if (changed) log.info({ editor: editorId, tools: Tools.length }, "the Editor's tools changed");
      } catch (error) {
        log.warn(
          { editor: editorId, error: (error as Error).message },
          "the Editor's tools could not be read",
        );
      }
    },
  };
}
