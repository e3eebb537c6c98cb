/** ▲13 In which incarnation of the store the owner has imported what its Editor knows, and that it does so again. */
import type { HelloResult } from "../shared/wire.js";
import type { EditorCalls } from "./editor-calls.js";
import type { EditorLink } from "./editor-link.js";
import { type RebuildDeps, rebuildRecords } from "./rebuild.js";

export interface Imports {
  /** Nothing is claimed in another incarnation; "" before the first hello. */
  importedIn(): string;
  atHello(hello: HelloResult, calls: Pick<EditorCalls, "list" | "get">): Promise<void>;
  /** The store may have lost something since; once at a time, whoever notices. */
  again(): Promise<void>;
  /** Looks whether it has: a Redis that was started again still has the lease, only its incarnation tells. */
  noticeLoss(): Promise<void>;
}

/** `resume`: what the Editor had before goes on, with what was imported. */
export function createImports(
  deps: RebuildDeps & {
    fence: string;
    link(): Pick<EditorLink, "list" | "get" | "hello" | "state">;
    resume(hello: HelloResult): Promise<void>;
  },
): Imports {
  const { store, log, editorId, fence } = deps;
  let importedIn = "";
  let underWay: Promise<void> | undefined;

  const importNow = async (): Promise<void> => {
    const link = deps.link();
    const { hello, state } = link;
    // What a connection that has ended said last is still handled.
    if (!hello || state !== "ready") return;
    log.warn({ editor: editorId }, "the store may have lost something; imports what the Editor knows");
    importedIn = await rebuildRecords(deps, hello, link, fence);
    await deps.resume(hello);
  };

  const again = (): Promise<void> => {
    underWay ??= importNow().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };

  return {
    importedIn: () => importedIn,
    again,
    async atHello(hello, calls) {
      importedIn = await rebuildRecords(deps, hello, calls, fence);
    },
    async noticeLoss() {
      if (importedIn !== "" && importedIn !== (await store.operations.incarnation())) await again();
    },
  };
}
