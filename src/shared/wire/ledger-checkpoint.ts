/** Ledger loss (▲10 c): what the store has seen of an Editor's journal, and whether the journal still holds it. */
import type { HelloResult } from "./wire.js";

/** The last durable entry that an Editor reported. */
export interface LedgerCheckpoint {
  ledgerId: string;
  editorSessionId: string;
  ledgerSeq: number;
}

/** The part of a hello that describes the Editor's journal. */
export type ReportedLedger = Pick<
  HelloResult,
  "ledgerId" | "editorSessionId" | "ledgerSeq" | "previousSession"
>;

/**
 * False: the journal may lack entries that the store has seen (another ledger, an older copy of it, or sessions in between
 * that were not seen). Then an operation's absence from the ledger does not prove that it never began. Numbers alone
 * prove nothing across sessions, because a restored journal grows past them again: the session that was seen must be
 * this one or the one just before.
 */
export function stillHolds(memory: LedgerCheckpoint | undefined, reported: ReportedLedger): boolean {
  if (memory === undefined) return true;
  if (memory.ledgerId !== reported.ledgerId) return false;
  if (memory.editorSessionId === reported.editorSessionId) return reported.ledgerSeq >= memory.ledgerSeq;
  const before = reported.previousSession;
  return before?.editorSessionId === memory.editorSessionId && before.ledgerSeq >= memory.ledgerSeq;
}

/** The checkpoint to remember from now on. */
export function memoryOf({ ledgerId, editorSessionId, ledgerSeq }: ReportedLedger): LedgerCheckpoint {
  return { ledgerId, editorSessionId, ledgerSeq };
}
