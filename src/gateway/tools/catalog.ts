/**
 * The tools of all known Editors, kept in memory and read again when an Editor reports a change. Where the store has none,
 * the last known catalogue answers (src/gateway/editors/last-catalogs.ts).
 */
import { isDeepStrictEqual } from "node:util";
import { nearest } from "../../shared/did-you-mean.js";
import { BrokerError } from "../../shared/errors.js";
import { head } from "../../shared/shortened-text.js";
import type { Editors } from "../../shared/store/editors/editors.js";
import type { Notifier } from "../../shared/store/notifier.js";
import type { Tool } from "../../shared/tools/tool.js";
import { type LastCatalogs, unknownTo } from "../editors/last-catalogs.js";

/** A tool, with the ids of the Editors that share this description, and how long its calls wait, s, if it is configured for it. */
export type OfferedTool = Tool & { editors: string[]; waitSeconds?: number | undefined };

export interface Catalog {
  /** Every tool of these Editors once, by name; if Editors differ, the most recently seen one decides. */
  tools(sees: (editorId: string) => boolean): Promise<OfferedTool[]>;
  /** The tool as these Editors describe it. Throws NO_EDITOR or UNKNOWN_TOOL. */
  tool(name: string, editorIds: readonly string[]): Promise<Tool>;
  close(): void;
}

export function createCatalog(
  editors: Pick<Editors, "availability" | "tools">,
  notifier: Pick<Notifier, "on">,
  last: Pick<LastCatalogs, "all">,
): Catalog {
  const cached = new Map<string, Promise<Tool[]>>();
  const stop = notifier.on(
    "editors",
    (editor) => cached.delete(editor),
    () => cached.clear(),
  );

  const storedToolsOf = (editor: string): Promise<Tool[]> => {
    const known = cached.get(editor);
    if (known) return known;
    const read = editors.tools(editor);
    cached.set(editor, read);
    // An empty catalogue is not published yet, and an error was not read: neither is kept.
    read.then(
      (tools) => tools.length === 0 && cached.delete(editor),
      () => cached.delete(editor),
    );
    return read;
  };

  const toolsOf = async (editor: string): Promise<readonly Tool[]> => {
    const stored = await storedToolsOf(editor);
    if (stored.length > 0) return stored;
    const noted = (await last.all()).find(({ profile }) => profile.editorId === editor);
    return noted?.tools ?? [];
  };

  const toolsByName = async (ids: readonly string[]): Promise<Map<string, Tool>> => {
    const byName = new Map<string, Tool>();
    for (const tools of await Promise.all(ids.map(toolsOf))) {
      for (const tool of tools) byName.set(tool.name, tool);
    }
    return byName;
  };

  return {
    async tools(sees) {
      const [stored, catalogs] = await Promise.all([editors.availability(), last.all()]);
      const noted = unknownTo(stored, catalogs).map(({ profile }) => profile.editorId);
      const ids = [...noted, ...stored.map(({ id }) => id)].filter(sees);
      const offered = new Map<string, OfferedTool>();
      for (const [at, tools] of (await Promise.all(ids.map(toolsOf))).entries()) {
        const editor = ids[at] ?? "";
        for (const tool of tools) {
          const { editors: others = [], ...before } = offered.get(tool.name) ?? {};
          const alike = isDeepStrictEqual(before, tool) ? others : [];
          // By name: the order of last sign of life changes all the time.
          offered.set(tool.name, { ...tool, editors: [...alike, editor].sort() });
        }
      }
      return [...offered.values()];
    },

    async tool(name, editorIds) {
      if (editorIds.length === 0) throw new BrokerError("NO_EDITOR", "No Unity Editor has been seen yet.");
      const byName = await toolsByName(editorIds);
      const tool = byName.get(name);
      if (tool) return tool;
      const meant = nearest(name, [...byName.keys()]);
      const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
      throw new BrokerError("UNKNOWN_TOOL", `There is no tool "${head(name, 100)}".${hint}`, {
        tool: head(name, 100),
      });
    },

    close: stop,
  };
}
