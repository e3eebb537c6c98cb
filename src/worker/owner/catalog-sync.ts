/** Copies an Editor's tools into the store, so that tools/list never waits for Unity. */
import type { Log } from "../../shared/log.js";
import type { Store } from "../../shared/store/store.js";
import { readTools, type ToolLimits } from "../../shared/tools/call-rules.js";
import type { EditorCalls } from "../editor/editor-calls.js";

export interface CatalogSync {
  /**
   * Asks for the tools and publishes them if they changed; a failure is logged, and the last known tools stay. Tools above
   * a limit are left out and reported.
   */
  sync(calls: Pick<EditorCalls, "toolDetails">): Promise<void>;
}

export function createCatalogSync(
  deps: {
    store: Store;
    editorId: string;
    log: Log;
    onLeftOut(count: number, reasons: readonly string[]): void;
  },
  limits: ToolLimits,
): CatalogSync {
  const { store, editorId, log } = deps;
  return {
    async sync(calls) {
      try {
        const { Tools } = await calls.toolDetails();
        const { tools, leftOut, reasons } = readTools(Tools, limits);
        const changed = await store.editors.publishTools(editorId, tools);
        if (changed) log.info({ tools: tools.length }, "the Editor's tools changed");
        if (leftOut > 0) log.warn({ leftOut, reasons }, "tools of the Editor are left out");
        deps.onLeftOut(leftOut, reasons);
      } catch (error) {
        log.warn({ error: (error as Error).message }, "the Editor's tools could not be read");
      }
    },
  };
}
