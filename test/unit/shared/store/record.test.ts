import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import { documentOf, readRecord } from "../../../../src/shared/store/operations/record.js";
import { MARK, operation } from "../record.js";

const again = (record: OperationRecord): OperationRecord =>
  readRecord(record.logId, [documentOf(record), String(record.mutationSeq), String(record.turn)]);

/** As the store makes one: with an incarnation, and a turn. */
const stored = (changes: Partial<OperationRecord> = {}): OperationRecord =>
  operation({ incarnation: "i", priorityClass: "interactive", turn: 7, ...changes });

describe("a record is read as it was written", () => {
  const stories: Record<string, OperationRecord> = {
    "a usual one": stored(),
    "with all that a usual one leaves out": stored({
      after: "op0",
      cancellable: true,
      keyed: true,
      priorityClass: "batch",
      askers: { asked: {}, read: { deliveredAt: 2, hasRead: true } },
      givenUpBy: ["user"],
      sentIn: "s0",
      editorMark: MARK,
    }),
    "that ended in the session it was sent in": stored({
      state: "completed",
      sentIn: MARK.editorSessionId,
      editorMark: { ...MARK, reloadAnnounced: true },
    }),
    "that was never sent, and has a mark": stored({ editorMark: MARK }),
  };
  for (const [title, record] of Object.entries(stories))
    test(title, () => expect(again(record)).toEqual(record));
});

test("a document begins with what scripts set, and repeats nothing that its key or its HASH says", () => {
  const document = documentOf(stored({ editorMark: MARK, sentIn: MARK.editorSessionId }));
  expect(document).toMatch(/^\{"state":"queued","acceptedAt":\d+,/);
  expect(document).not.toMatch(/logId|mutationSeq|"turn"|editorSessionId/);
});
