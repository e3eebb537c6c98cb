import { describe, expect, test } from "vitest";
import {
  editorFor,
  isFor,
  isLabel,
  isMember,
  labelsOf,
  poolIn,
  resolveTarget,
} from "../../../../src/shared/editors/target.js";
import { candidate } from "../record.js";

describe("a pool is named by labels", () => {
  test.each([
    ["pool:android", "pool:android"],
    ["pool:linux,android", "pool:android,linux"],
    ["POOL:Linux, android ,LINUX", "pool:android,linux"],
    ["pool:unity=6000.0.26f1,project=my-game", "pool:project=my-game,unity=6000.0.26f1"],
    ["pool:", ""],
    ["pool:a b", ""],
    ["pool:a,,b", ""],
    ["pool:a:b", ""],
    ["pool:=a", ""],
    ["pool:a=b=c", ""],
    [`pool:${"a".repeat(65)}`, ""],
    [`pool:${Array.from({ length: 33 }, (_, at) => `l${at}`).join(",")}`, ""],
    ["poo", undefined],
    ["my pool:android", undefined],
  ])("%s: %s", (named, expected) => {
    expect(poolIn(named)).toBe(expected);
  });

  test("an Editor has those that it gives itself, and its project and Unity version", () => {
    const editor = { projectName: "My Game", unityVersion: "6000.0.26f1" };
    const known = ["project=my-game", "unity=6000.0.26f1"];
    expect(labelsOf(editor)).toEqual(known);
    expect(labelsOf({ ...editor, labels: ["GPU", "not one", "gpu", "android"] })).toEqual([
      "android",
      "gpu",
      ...known,
    ]);
    const many = Array.from({ length: 100 }, (_, at) => `l${at}`);
    expect(labelsOf({ ...editor, labels: many })).toHaveLength(32 + known.length);
    // A version that is no label is none, and keeps nothing out.
    expect(labelsOf({ ...editor, unityVersion: "(unknown)" })).toEqual(["project=my-game"]);
  });

  test("a member has all of its labels", () => {
    expect(isMember("pool:android,linux", ["android", "gpu", "linux"])).toBe(true);
    expect(isMember("pool:android,linux", ["android", "gpu"])).toBe(false);
    expect(isLabel("android,linux")).toBe(false);
  });
});

describe("▲4 a pool as a target", () => {
  const [android, other] = [candidate("a@1", { labels: ["android"] }), candidate("b@2")];
  const target = { kind: "pool" as const, pool: "pool:android" };

  test("is taken as it is named; whether it has members is asked only for a new operation", () => {
    expect(resolveTarget("pool:Android", [])).toEqual(target);
    expect(editorFor(target, { candidates: [android, other] })).toBe("pool:android");
    expect(editorFor(target, { candidates: [other] })).toEqual({
      code: "EDITOR_UNKNOWN",
      named: "pool:android",
      candidates: [other],
    });
    expect(resolveTarget("pool:", [android])).toMatchObject({ code: "EDITOR_UNKNOWN", named: "pool:" });
  });

  test("▲13 is closed while any Editor is missing, whatever its labels are", () => {
    expect(editorFor(target, { candidates: [android], missing: ["b@2"] })).toEqual({
      code: "EDITORS_NOT_BACK",
      editors: ["b@2"],
    });
  });

  test("is answered by its own operations only", () => {
    expect(isFor(target, { editor: "a@1", pool: "pool:android" })).toBe(true);
    expect(isFor(target, { editor: "a@1" })).toBe(false);
    expect(isFor(target, { editor: "a@1", pool: "pool:android,linux" })).toBe(false);
  });
});
