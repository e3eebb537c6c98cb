/** Ledger loss (▲10 c): at each hello, does the Editor's journal still hold what the store has seen of it? */

import type { Log } from "../../shared/log.js";
import type { Store } from "../../shared/store/store.js";
import { stillHolds } from "../../shared/wire/ledger-checkpoint.js";
import type { HelloResult } from "../../shared/wire/wire.js";

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
