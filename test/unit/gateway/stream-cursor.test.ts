import { describe, expect, test } from "vitest";
import {
  type Cursor,
  readCursor,
  writeCursor,
} from "../../../src/gateway/mcp/revision-2025/stream-cursor.js";

const LOG_ID = "0b6f0f9e-3c5b-4a53-9d0b-6a1f3f3e0c11";
const ALL: Cursor[] = [
  { at: "begun", id: 1, stream: "s", timeout: "3", progressToken: "p", isTask: true },
  { at: "begun", id: "one", stream: "s", read: { method: "tools/list", params: { cursor: "c" } } },
  { at: "operation", id: 1, stream: "s", logId: LOG_ID, relation: "joined", seconds: 0.5, until: 7 },
  { at: "end", id: 1, stream: "s" },
];

describe("an event's id", () => {
  test.each(ALL)("says in its session what was written: $at", (cursor) => {
    const id = writeCursor("session", cursor) ?? "";
    expect(id).toMatch(/^[\w-]+\.[\w-]+$/);
    expect(readCursor("session", id)).toEqual(cursor);
    expect(readCursor("another", id)).toBeUndefined();
  });

  test("is not written where no header could take it back", () => {
    const params = { uri: "x".repeat(3_000) };
    expect(
      writeCursor("s", { at: "begun", id: 1, stream: "s", read: { method: "m", params } }),
    ).toBeUndefined();
  });

  test.each(["", ".", "a.b", "e30", "e30.", ".AAAAAAAAAAAA"])("%j is none", (id) => {
    expect(readCursor("session", id)).toBeUndefined();
  });

  test("that its client sealed by itself is read with care", () => {
    const own = (value: unknown) => writeCursor("s", value as Cursor) ?? "";
    expect(readCursor("s", own({ at: "operation", id: 1, stream: "s", logId: "../x" }))).toBeUndefined();
    expect(readCursor("s", own([1]))).toBeUndefined();
  });
});
