/** Store incarnation (▲13): the incarnation of the store in which the owner imported what its Editor knows. */

import type { Log } from "../../shared/log.js";
import type { Store } from "../../shared/store/store.js";
import { stillHolds } from "../../shared/wire/ledger-checkpoint.js";
import type { HelloResult } from "../../shared/wire/wire.js";
import type { EditorCalls } from "../editor/editor-calls.js";
import type { EditorLink } from "../editor/editor-link.js";
import { EpochInUse, type RebuildDeps, rebuildRecords } from "./rebuild.js";

export interface Imports {
  /** Nothing is claimed in another incarnation; "" before the first hello. */
  importedIn(): string;
  /** Imports at hello, over the calls of its connection, before the link is ready. Rejects where that needs another connection. */
  atHello(hello: HelloResult, calls: Pick<EditorCalls, "list" | "get">): Promise<void>;
  /** Imports over the link, or at the next hello; resolves the hello of the imported Editor, undefined while none is ready. */
  importNow(): Promise<HelloResult | undefined>;
}

export function createImports(
  deps: RebuildDeps & {
    fence: string;
    link: Pick<EditorLink, "list" | "get" | "hello" | "state" | "helloAgain">;
  },
): Imports {
  const { log, fence, link } = deps;
  let importedIn = "";

  return {
    importedIn: () => importedIn,
    async atHello(hello, calls) {
      importedIn = await rebuildRecords(deps, hello, calls, fence);
    },
    async importNow() {
      const { hello, state } = link;
      // The last heartbeat of a connection that has ended is still handled.
      if (!hello || state !== "ready") return undefined;
      log.warn({}, "the store may have lost something; imports what the Editor knows");
      try {
        importedIn = await rebuildRecords(deps, hello, link, fence);
        return hello;
      } catch (error) {
        if (!(error instanceof EpochInUse)) throw error;
        link.helloAgain();
        return undefined;
      }
    },
  };
}

// Ledger loss (▲10 c): at each hello, does the Editor's journal still hold what the store has seen of it?

/**
 * Marks every operation that was sent to a journal that has been lost since, so that no owner sends it there again,
 * neither this one nor a later one. Must happen before the new journal is remembered: after a crash in between it compares again.
 */
export async function noticeLedgerLoss(
  deps: { store: Store; editorId: string; log: Log },
  hello: HelloResult,
  fence: string,
): Promise<void> {
  if (hello.plain) return;
  const { operations, editors } = deps.store;
  const seen = (await editors.find(deps.editorId))?.ledger;
  if (stillHolds(seen, hello)) return;
  const reported = { ledgerId: hello.ledgerId, ledgerSeq: hello.ledgerSeq };
  deps.log.warn({ seen, reported }, "the Editor's ledger is not the one that was seen");
  for (const { logId } of await operations.openOf(deps.editorId)) {
    await operations.change(
      logId,
      (record) =>
        record.sentIn === undefined || record.ledgerLost
          ? undefined
          : { record: { ...record, ledgerLost: true } },
      fence,
    );
  }
}
