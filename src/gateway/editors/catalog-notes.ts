/** Notes the catalogue of each Editor that the store knows, whenever it may have changed (last-catalogs.ts). */
import type { Log } from "../../shared/log.js";
import type { Editors } from "../../shared/store/editors/editors.js";
import type { Notifier } from "../../shared/store/notifier.js";
import type { LastCatalogs } from "./last-catalogs.js";

export interface CatalogNotes {
  /** Resolves when everything that was reported before is noted. */
  close(): Promise<void>;
}

export function createCatalogNotes(deps: {
  editors: Pick<Editors, "ids" | "find" | "tools">;
  notifier: Pick<Notifier, "on">;
  catalogs: Pick<LastCatalogs, "note">;
  log: Log;
}): CatalogNotes {
  const { editors, catalogs, log } = deps;
  const due = new Set<string>();
  let isClosed = false;
  let working: Promise<void> | undefined;

  const noteOne = async (editor: string): Promise<void> => {
    const [known, tools] = await Promise.all([editors.find(editor), editors.tools(editor)]);
    // One that is being introduced, or was forgotten: its last catalogue stays noted.
    if (!known || tools.length === 0) return;
    const { profile, lastSeenAt, ended } = known;
    const isStill = async (): Promise<boolean> => (await editors.find(editor)) !== undefined;
    await catalogs.note({ profile, lastSeenAt, ...(ended ? { ended } : {}), tools }, isStill);
  };

  /** An Editor that is reported again meanwhile comes again, at the end. */
  const work = async (): Promise<void> => {
    for (const editor of due) {
      due.delete(editor);
      try {
        await noteOne(editor);
      } catch (error) {
        log.warn({ editor, error: (error as Error).message }, "the Editor's tools cannot be noted");
        // The store may be away: each further Editor would hold up the end of the process.
        if (isClosed) due.clear();
      }
    }
  };

  const note = (editor: string): void => {
    due.add(editor);
    working ??= work().finally(() => {
      working = undefined;
    });
  };

  const noteAll = (): Promise<void> =>
    editors.ids().then(
      (ids) => ids.forEach(note),
      (error: Error) =>
        log.debug({ error: error.message }, "the Editors' tools are noted with the next change"),
    );

  let listing = noteAll();
  const stop = deps.notifier.on("editors", note, () => {
    listing = noteAll();
  });

  return {
    async close() {
      isClosed = true;
      stop();
      await listing;
      await working;
    },
  };
}
