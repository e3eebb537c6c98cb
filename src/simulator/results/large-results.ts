/**
 * Results that do not fit into a frame: the outcome then has `resultBytes` instead of `result`, and
 * `operation/result` delivers the UTF-8 JSON in parts (base64, so that a part may end within a character).
 */
import type { Outcome } from "../../shared/wire/wire.js";
import type { LedgerOperation } from "../ledger/journal-entry.js";
import { type ResultText, resultText } from "./result-text.js";

export interface LargeResults {
  /** The outcome in the ledger's form; of a read's large result only the text is kept. */
  keep(operation: LedgerOperation, outcome: Outcome): Outcome;
  /** The outcome in the form for the wire. */
  inFrame(outcome: Outcome): Outcome;
  part(
    operation: LedgerOperation | undefined,
    offset: number,
    length: number,
  ): { offset: number; total: number; base64: string } | undefined;
  /** The result itself. */
  whole(outcome: Outcome): unknown;
}

export function createLargeResults(options: { inlineResultBytes: number }): LargeResults {
  /** Available as long as the ledger has the outcome. */
  const texts = new WeakMap<Outcome, ResultText>();

  const textOf = (outcome: Outcome): ResultText => {
    const text = texts.get(outcome) ?? resultText(outcome.result);
    if (text.length > options.inlineResultBytes) texts.set(outcome, text);
    return text;
  };
  const without = (outcome: Outcome, text: ResultText): Outcome => {
    const { result: _result, ...rest } = outcome;
    const fitting = { ...rest, resultBytes: text.length };
    texts.set(fitting, text);
    return fitting;
  };
  const inFrame = (outcome: Outcome): Outcome => {
    if (outcome.result === undefined) return outcome;
    const text = textOf(outcome);
    return text.length <= options.inlineResultBytes ? outcome : without(outcome, text);
  };

  return {
    // A result that the journal must hold stays whole.
    keep: ({ readOnly }, outcome) => (readOnly ? inFrame(outcome) : outcome),
    inFrame,
    part(operation, offset, length) {
      const outcome = operation?.outcome;
      if (outcome === undefined || (outcome.result === undefined && !texts.has(outcome))) return undefined;
      const text = textOf(outcome);
      // A part must fit into a frame, whatever size was requested; base64 makes it a third longer.
      const part = text.part(offset, Math.min(length, options.inlineResultBytes));
      return { offset, total: text.length, base64: part.toString("base64") };
    },
    whole(outcome) {
      const text = texts.get(outcome);
      return text === undefined ? outcome.result : JSON.parse(text.part(0, text.length).toString("utf8"));
    },
  };
}
