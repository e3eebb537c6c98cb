import { describe, expect, test } from "vitest";
import { CLASS_MS, executionClassOf, overdueBy } from "../../../../src/shared/tools/call-rules.js";
import { NOW, operation } from "../record.js";

const classOf = (tool: string, more: Partial<Parameters<typeof executionClassOf>[0]> = {}) =>
  executionClassOf({ tool, recordedMs: [], arguments: {}, ...more });

describe("how long a call usually takes", () => {
  const slow = [400_000, 400_000, 400_000, 400_000, 400_000];

  test("the first that knows decides: tool, configuration, durations, name, arguments", () => {
    const url = { Url: "https://example.com/a.zip" };
    const all = { given: "quick", configured: "medium", recordedMs: slow, arguments: url } as const;
    expect(classOf("build-player", all)).toBe("quick");
    expect(classOf("build-player", { ...all, given: undefined })).toBe("medium");
    expect(classOf("get-logs", { ...all, given: undefined, configured: undefined })).toBe("long");
    expect(classOf("get-logs", { arguments: url })).toBe("quick");
    expect(classOf("fetch", { arguments: url })).toBe("long");
    expect(classOf("fetch")).toBe("medium");
  });

  test.each([
    ["build-player", "long"],
    ["run-tests", "long"],
    ["compile", "long"],
    ["GenerateLightmaps", "long"],
    ["assets_convert", "long"],
    ["get-build-settings", "quick"],
    ["unity-search", "quick"],
    ["ping", "quick"],
    ["asyncify", "medium"],
    ["execute-menu-item", "medium"],
  ])("by its name, %s is %s", (tool, expected) => {
    expect(classOf(tool)).toBe(expected);
  });

  test("a long path and an address are long, other texts are not", () => {
    expect(classOf("import", { arguments: { AssetPath: "a".repeat(101) } })).toBe("long");
    expect(classOf("import", { arguments: { AssetPath: "a".repeat(100) } })).toBe("medium");
    expect(classOf("import", { arguments: { Text: "a".repeat(500), Url: "file:///a" } })).toBe("medium");
  });

  test("durations count from five on, by their 95th percentile with a margin", () => {
    expect(classOf("work", { recordedMs: slow.slice(1) })).toBe("medium");
    expect(classOf("work", { recordedMs: slow })).toBe("long");
    const mostlyQuick = [...Array.from({ length: 19 }, () => 1_000), 400_000];
    expect(classOf("work", { recordedMs: mostlyQuick })).toBe("quick");
    expect(classOf("work", { recordedMs: Array.from({ length: 5 }, () => 16_000) })).toBe("medium");
    expect(classOf("work", { recordedMs: Array.from({ length: 5 }, () => 9_000_000) })).toBe("long");
  });
});

describe("past its class", () => {
  test("what runs is overdue, by how much", () => {
    const record = operation({ state: "running", startedAt: NOW, executionClass: "quick" });
    expect(overdueBy(record, NOW + CLASS_MS.quick)).toBeUndefined();
    expect(overdueBy(record, NOW + CLASS_MS.quick + 1_000)).toBe(1_000);
  });

  test("what waits or has ended never is", () => {
    for (const state of ["queued", "dispatched", "completed"] as const) {
      const record = operation({ state, startedAt: NOW, executionClass: "quick" });
      expect(overdueBy(record, NOW + 10 * CLASS_MS.long)).toBeUndefined();
    }
  });

  test("of a record without a class nothing is said for an hour", () => {
    const record = operation({ state: "running", startedAt: NOW });
    expect(overdueBy(record, NOW + CLASS_MS.long)).toBeUndefined();
    expect(overdueBy(record, NOW + CLASS_MS.long + 1)).toBe(1);
  });
});
