/** ▲10 (c) What the store has seen of an Editor's journal, and whether the journal still holds that much. */
import type { HelloResult } from "./wire.js";

/** The last durable entry that an Editor told of. */
export interface LedgerMemory {
  ledgerId: string;
  editorSessionId: string;
  ledgerSeq: number;
}

/** What a hello says of the Editor's journal. */
export type ToldLedger = Pick<HelloResult, "ledgerId" | "editorSessionId" | "ledgerSeq" | "previousSession">;

/**
 * False: the journal may lack what the store knows of (another ledger, an older copy of it, or sessions in between that
 * nobody saw). Then the ledger's silence about an operation is no proof that it never began. Numbers alone prove
 * nothing across sessions: a journal that was put back grows past them again, so the session that was seen must be
 * this one or the one just before.
 */
export function stillHolds(memory: LedgerMemory | undefined, told: ToldLedger): boolean {
  if (memory === undefined) return true;
  if (memory.ledgerId !== told.ledgerId) return false;
  if (memory.editorSessionId === told.editorSessionId) return told.ledgerSeq >= memory.ledgerSeq;
  const before = told.previousSession;
  return before?.editorSessionId === memory.editorSessionId && before.ledgerSeq >= memory.ledgerSeq;
}

/** What to remember of it from now on. */
export function memoryOf({ ledgerId, editorSessionId, ledgerSeq }: ToldLedger): LedgerMemory {
  return { ledgerId, editorSessionId, ledgerSeq };
}
