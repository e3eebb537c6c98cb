import { describe, expect, test } from "vitest";
import { editorFor, resolveTarget } from "../../src/shared/target.js";

const KNOWN = ["shop@1a", "shop@2b", "game@3c"];

describe("▲4 naming an Editor", () => {
  test("▲4 nothing said leaves the target open", () => {
    expect(resolveTarget(undefined, KNOWN)).toEqual({ kind: "open" });
  });

  test("▲4 a unique beginning of an id is enough, and counts as explicit", () => {
    expect(resolveTarget("game", KNOWN)).toEqual({ kind: "explicit", editor: "game@3c" });
  });

  test("▲4 a whole id is meant even where another begins with it", () => {
    expect(resolveTarget("a@1", ["a@1", "a@12"])).toEqual({ kind: "explicit", editor: "a@1" });
  });

  test("▲4 a beginning of several names the candidates", () => {
    expect(resolveTarget("shop", KNOWN)).toEqual({
      code: "EDITOR_AMBIGUOUS",
      named: "shop",
      candidates: ["shop@1a", "shop@2b"],
    });
  });

  test("▲4 a beginning of none names all of them", () => {
    expect(resolveTarget("other", KNOWN)).toEqual({
      code: "EDITOR_UNKNOWN",
      named: "other",
      candidates: KNOWN,
    });
  });

  test("▲4 without any Editor ever seen, naming one does not help", () => {
    expect(resolveTarget("shop", [])).toEqual({ code: "NO_EDITOR" });
  });
});

describe("▲4 the Editor of a new operation", () => {
  test("▲4 the named one", () => {
    expect(editorFor({ kind: "explicit", editor: "game@3c" }, KNOWN)).toBe("game@3c");
  });

  test("▲4 else the only one ever seen, never one of several", () => {
    expect(editorFor({ kind: "open" }, ["shop@1a"])).toBe("shop@1a");
    expect(editorFor({ kind: "open" }, KNOWN)).toEqual({ code: "EDITOR_AMBIGUOUS", candidates: KNOWN });
    expect(editorFor({ kind: "open" }, [])).toEqual({ code: "NO_EDITOR" });
  });
});
