import { describe, expect, test } from "vitest";
import {
  compareEditors,
  isOlderCopy,
  type NotedEditors,
  type StoredEditor,
  type StoreNow,
  seenWith,
} from "../../../../src/shared/editors/diagnose.js";

const HOUR = 3_600_000;
const NOW = 100 * HOUR;
const RETENTION = 24 * HOUR;

const here = (id: string, importedIn?: string): StoredEditor => ({
  id,
  isLive: true,
  hasOpen: false,
  lastSeenAt: NOW,
  importedIn,
});
const left = (id: string, lastSeenAt: number, importedIn?: string): StoredEditor => ({
  id,
  isLive: false,
  hasOpen: false,
  lastSeenAt,
  importedIn,
});
const store = (incarnation: string, ...editors: StoredEditor[]): StoreNow => ({
  incarnation,
  editors,
  now: NOW,
  retentionMs: RETENTION,
});

const NOTED: NotedEditors = { incarnation: "1", editors: { a: {}, b: { leftAt: 50 } } };

describe("▲4 which Editors are missing", () => {
  test("none at first, and none while the store is the same: they are noted as they are", () => {
    const editors = { a: {}, b: { leftAt: 50 } };
    expect(compareEditors(undefined, store("1", here("a"), left("b", 50)))).toEqual({
      noted: { incarnation: "1", editors },
      missing: [],
    });
    expect(compareEditors(NOTED, store("1", here("c")))).toEqual({
      noted: { incarnation: "1", editors: { c: {} } },
      missing: [],
    });
  });

  test("after a flush all, until each is imported; what is noted stays that of the lost store", () => {
    expect(compareEditors(NOTED, store("2"))).toEqual({
      noted: { ...NOTED, changedAt: NOW, changedTo: "2" },
      missing: ["a", "b"],
    });
    const first = compareEditors(NOTED, store("2", here("b", "2"), here("c", "2")));
    expect(first).toEqual({
      noted: { incarnation: "1", changedAt: NOW, changedTo: "2", editors: { a: {}, b: {}, c: {} } },
      missing: ["a"],
    });
    expect(
      compareEditors(first.noted, store("2", here("a", "2"), here("b", "2"), left("c", 70, "2"))),
    ).toEqual({
      noted: { incarnation: "2", editors: { a: {}, b: {}, c: { leftAt: 70 } } },
      missing: [],
    });
  });

  test("one that another incarnation imported, or that is only introduced, is missing still", () => {
    expect(compareEditors(NOTED, store("2", here("a", "1"), here("b"))).missing).toEqual(["a", "b"]);
  });

  test("one that had left is not waited for if the store still knows that it had", () => {
    expect(compareEditors(NOTED, store("2", here("a", "2"), left("b", 50))).missing).toEqual([]);
    // An older copy of the store was put back.
    expect(compareEditors(NOTED, store("2", here("a", "2"), left("b", 49))).missing).toEqual(["b"]);
    // It was back, for all that the store knows, when something was lost.
    expect(compareEditors(NOTED, store("2", here("a", "2"), here("b", "1"))).missing).toEqual(["b"]);
    // It was there when it was noted, and may have run something since.
    expect(compareEditors(NOTED, store("2", left("a", 60), left("b", 50))).missing).toEqual(["a"]);
  });

  test("one that is away and has something to run may have run it: it is missing", () => {
    const awaited = { ...left("b", 50), hasOpen: true };
    const { noted } = compareEditors(NOTED, store("1", here("a"), awaited));
    expect(noted.editors).toEqual({ a: {}, b: {} });
    expect(compareEditors(noted, store("2", here("a", "2"), left("b", 50))).missing).toEqual(["b"]);
  });

  test("one that is back and missing was there when the store is lost once more", () => {
    const { noted } = compareEditors(NOTED, store("2", here("a", "2"), here("b", "1")));
    expect(compareEditors(noted, store("3", here("a", "3"), left("b", 60))).missing).toEqual(["b"]);
  });

  test("after the retention no ledger answers a call from before: nobody is waited for", () => {
    const noted = { ...NOTED, changedAt: NOW - RETENTION, changedTo: "2" };
    expect(compareEditors({ ...noted, changedAt: NOW - RETENTION + 1 }, store("2")).missing).toHaveLength(2);
    expect(compareEditors(noted, store("2"))).toEqual({
      noted: { incarnation: "2", editors: {} },
      missing: [],
    });
  });

  test("a further loss begins the retention anew: what it lost is younger", () => {
    const noted = { ...NOTED, changedAt: NOW - RETENTION, changedTo: "2" };
    const after = compareEditors(noted, store("3"));
    expect(after.missing).toEqual(["a", "b"]);
    expect(after.noted).toMatchObject({ changedAt: NOW, changedTo: "3" });
  });
});

describe("▲13 an older copy of the store", () => {
  const noted = { incarnation: "2", run: "r2", seen: ["1", "2"] };

  test.each([
    ["the store as it was noted", { incarnation: "2", runs: ["r2", "r1"] }, false],
    ["the next run of Redis after an orderly end", { incarnation: "2", runs: ["r3", "r2"] }, false],
    ["a new incarnation, after a loss", { incarnation: "3", runs: ["r3", "r2"] }, false],
    ["a run that is not the next one", { incarnation: "2", runs: ["r9", "r1"] }, true],
    ["an incarnation that was over", { incarnation: "1", runs: ["r9", "r1"] }, true],
  ])("%s: %j", (_, now, isOlder) => {
    expect(isOlderCopy(noted, now)).toBe(isOlder);
  });

  test("what was seen is remembered, the present one last, and not without end", () => {
    expect(seenWith(undefined, "1")).toEqual(["1"]);
    expect(seenWith(["1", "2", "3"], "2")).toEqual(["1", "3", "2"]);
    const many = Array.from({ length: 200 }, (_, index) => String(index));
    expect(seenWith(many, "new")).toHaveLength(50);
    expect(seenWith(many, "new").at(-1)).toBe("new");
  });
});
