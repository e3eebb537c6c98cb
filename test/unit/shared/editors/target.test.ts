import { describe, expect, test } from "vitest";
import {
  editorFor,
  isFor,
  openTarget,
  resolveTarget,
  type Target,
} from "../../../../src/shared/editors/target.js";
import { candidate } from "../record.js";

const SHOP = candidate("shop@1a");
const TWIN = candidate("shop@2b", { projectPath: "/other/shop" });
const GAME = candidate("my-game@3c", { projectName: "My Game", projectPath: "/projects/My Game" });
const KNOWN = [SHOP, TWIN, GAME];
const OPEN: Target = { kind: "open" };
const named = (editor: string): Target => ({ kind: "named", editor });
const away = { connected: false };

describe("▲4 naming an Editor", () => {
  test.each(["my-game@3c", "my-game@", "MY-GAME@3", "My Game", "my game", "MY GAME", "my-game"])(
    "▲4 %s names the Editor: id, beginning of it, or the project's name, whatever the case",
    (name) => {
      expect(resolveTarget(name, KNOWN)).toEqual(named("my-game@3c"));
    },
  );

  test("▲4 a whole id is meant even where another begins with it", () => {
    expect(resolveTarget("a@1", [candidate("a@1"), candidate("a@12")])).toEqual(named("a@1"));
  });

  test("▲4 a project's whole name is meant even where another's begins with it", () => {
    expect(resolveTarget("Shop", [SHOP, candidate("shop-tools@4d")])).toEqual(named("shop@1a"));
  });

  test.each(["my-g", "my", "game@3c"])("▲4 %s is no name: the call was meant for another project", (name) => {
    expect(resolveTarget(name, KNOWN)).toEqual({ code: "EDITOR_UNKNOWN", named: name, candidates: KNOWN });
  });

  test.each(["shop", "Shop", "SHOP@", "shop@"])("▲4 %s, which fits several, tells those", (name) => {
    expect(resolveTarget(name, KNOWN)).toEqual({
      code: "EDITOR_AMBIGUOUS",
      named: name,
      candidates: [SHOP, TWIN],
    });
  });

  test("▲4 a name that fits none tells all", () => {
    expect(resolveTarget("other", KNOWN)).toEqual({
      code: "EDITOR_UNKNOWN",
      named: "other",
      candidates: KNOWN,
    });
  });

  test("▲4 a name that fits one that the store knows means it, not one whose catalogue is only noted", () => {
    const noted = { ...TWIN, ...away, isNoted: true };
    expect(resolveTarget("shop", [noted, SHOP])).toEqual(named("shop@1a"));
    expect(resolveTarget("shop@2b", [noted, SHOP])).toEqual(named("shop@2b"));
    expect(resolveTarget("shop", [noted, GAME])).toEqual(named("shop@2b"));
  });

  test("▲4 without any Editor ever seen, naming one does not help", () => {
    expect(resolveTarget("shop", [])).toEqual({ code: "NO_EDITOR" });
  });
});

describe("▲4 the operations that may answer", () => {
  test("▲4 an open target takes any, a named one its own", () => {
    expect(isFor(OPEN, { editor: "shop@1a" })).toBe(true);
    expect(isFor(named("a@1"), { editor: "a@1" })).toBe(true);
    expect(isFor(named("a@1"), { editor: "a@12" })).toBe(false);
  });

  test.each([
    ["My Game", true],
    ["my-game", true],
    ["MY-G", false],
    ["MY-GAME@", true],
    ["my-game@3c", true],
    ["game", false],
    ["ゲーム", false],
  ])("▲4 %s, which no known Editor is called any more: %s for my-game@3c", (editor, expected) => {
    expect(isFor({ kind: "named", editor, isUnknown: true }, { editor: "my-game@3c" })).toBe(expected);
  });

  test("▲4 two names without a Latin letter are not the same name", () => {
    expect(isFor({ kind: "named", editor: "ゲーム", isUnknown: true }, { editor: "project@5e" })).toBe(false);
  });
});

describe("▲4 the target of a call without `editor`", () => {
  const elsewhere = (folders: readonly string[] | undefined, candidates = KNOWN) =>
    openTarget({ candidates, folders });

  test("▲4 in a project's folder the Editors of all others are elsewhere, connected or not", () => {
    const target = { kind: "open", elsewhere: ["shop@2b", "my-game@3c"] };
    expect(elsewhere(["/projects/shop/Assets", "/tmp"])).toEqual(target);
    expect(elsewhere(["/projects/shop"], [{ ...SHOP, ...away }, TWIN, GAME])).toEqual(target);
  });

  test("▲4 an Editor of the same project under another id is not", () => {
    const renamed = candidate("shop@9f", { ...away });
    expect(elsewhere(["/projects/shop"], [SHOP, renamed, GAME])).toEqual({
      kind: "open",
      elsewhere: ["my-game@3c"],
    });
  });

  test.each([
    ["no folder is known", undefined],
    ["the folder is in no project", ["/tmp"]],
    ["the folders are in two projects", ["/projects/shop", "/other/shop"]],
  ])("▲4 none is where %s", (_when, folders) => {
    expect(elsewhere(folders)).toEqual(OPEN);
  });
});

describe("▲4 the Editor of a new operation", () => {
  test("▲4 the named one, then the selected one, connected or not", () => {
    const around = { candidates: KNOWN, selected: "shop@2b", folders: ["/projects/shop"] };
    expect(editorFor(named("my-game@3c"), around)).toBe("my-game@3c");
    expect(editorFor(OPEN, around)).toBe("shop@2b");
  });

  test("▲4 then the one whose project holds the client's folder, connected or not", () => {
    const candidates = [{ ...SHOP, ...away }, TWIN, GAME];
    for (const folder of ["/projects/shop", "/projects/shop/", "/projects/shop/Assets/Scripts"]) {
      expect(editorFor(OPEN, { candidates, folders: [folder] })).toBe("shop@1a");
    }
  });

  test("▲4 the innermost project; not one beside it, not one inside the folder", () => {
    const inner = candidate("demo@6f", { projectPath: "/projects/shop/Demo" });
    const candidates = [SHOP, inner];
    const ambiguous = { code: "EDITOR_AMBIGUOUS", candidates };
    expect(editorFor(OPEN, { candidates, folders: ["/projects/shop/Demo/Assets"] })).toBe("demo@6f");
    expect(editorFor(OPEN, { candidates, folders: ["/projects/shop/Demo2"] })).toBe("shop@1a");
    expect(editorFor(OPEN, { candidates, folders: ["/projects/shop2"] })).toEqual(ambiguous);
    expect(editorFor(OPEN, { candidates, folders: ["/projects"] })).toEqual(ambiguous);
  });

  test("▲4 folders in two projects decide nothing, folders in none neither", () => {
    const folders = ["/projects/shop", "/projects/My Game"];
    expect(editorFor(OPEN, { candidates: KNOWN, folders })).toMatchObject({ code: "EDITOR_AMBIGUOUS" });
    expect(editorFor(OPEN, { candidates: KNOWN, folders: ["/", "/projects/shop"] })).toBe("shop@1a");
  });

  test("▲4 of two with the same path the one that is there", () => {
    const renamed = candidate("shop@9z");
    const around = { candidates: [{ ...SHOP, ...away }, renamed, GAME], folders: ["/projects/shop"] };
    expect(editorFor(OPEN, around)).toBe("shop@9z");
  });

  test("▲4 a path of Windows, with either slash and in any case; elsewhere case counts", () => {
    const windows = candidate("shop@1a", { projectPath: "C:/Users/Ann/Shop" });
    const candidates = [windows, GAME];
    expect(editorFor(OPEN, { candidates, folders: ["c:\\users\\ann\\shop\\Assets"] })).toBe("shop@1a");
    expect(editorFor(OPEN, { candidates: KNOWN, folders: ["/Projects/Shop"] })).toMatchObject({
      code: "EDITOR_AMBIGUOUS",
    });
  });

  test("▲4 an Editor whose project is unknown holds no folder", () => {
    const around = { candidates: [candidate("shop@1a", { projectPath: "" }), GAME], folders: ["/tmp"] };
    expect(editorFor(OPEN, around)).toMatchObject({ code: "EDITOR_AMBIGUOUS" });
  });

  test("W11 then the only connected one, however many are away", () => {
    const candidates = [
      { ...SHOP, ...away },
      { ...TWIN, ...away },
    ];
    expect(editorFor(OPEN, { candidates: [...candidates, GAME] })).toBe("my-game@3c");
  });

  test("▲4 one that only reloads counts as connected: its neighbour is not taken for it", () => {
    const reloading = { ...SHOP, ...away, isReturning: true };
    expect(editorFor(OPEN, { candidates: [reloading, { ...TWIN, ...away }] })).toBe("shop@1a");
    expect(editorFor(OPEN, { candidates: [reloading, GAME] })).toMatchObject({ code: "EDITOR_AMBIGUOUS" });
  });

  test("▲4 with none connected the only known one, else the candidates", () => {
    const gone = { ...GAME, ...away };
    expect(editorFor(OPEN, { candidates: [gone] })).toBe("my-game@3c");
    const candidates = [gone, { ...SHOP, ...away }];
    expect(editorFor(OPEN, { candidates })).toEqual({ code: "EDITOR_AMBIGUOUS", candidates });
    expect(editorFor(OPEN, { candidates: [] })).toEqual({ code: "NO_EDITOR" });
  });

  test("▲4 one whose catalogue is only noted is meant where the store knows none, or the folder is in its project", () => {
    const noted = { ...GAME, ...away, isNoted: true };
    const gone = { ...SHOP, ...away };
    expect(editorFor(OPEN, { candidates: [noted] })).toBe("my-game@3c");
    expect(editorFor(OPEN, { candidates: [noted, gone] })).toBe("shop@1a");
    expect(editorFor(OPEN, { candidates: [noted, SHOP] })).toBe("shop@1a");
    expect(editorFor(OPEN, { candidates: [noted, SHOP], folders: ["/projects/My Game/Assets"] })).toBe(
      "my-game@3c",
    );
    const candidates = [noted, { ...TWIN, ...away, isNoted: true }];
    expect(editorFor(OPEN, { candidates })).toEqual({ code: "EDITOR_AMBIGUOUS", candidates });
  });

  test("▲4 after the loss of the store nothing is chosen until all are back; what is named goes on", () => {
    const around = { candidates: [SHOP], missing: ["my-game@3c"] };
    const refused = { code: "EDITORS_NOT_BACK", editors: ["my-game@3c"] };
    expect(editorFor(OPEN, around)).toEqual(refused);
    expect(editorFor(OPEN, { ...around, candidates: [] })).toEqual(refused);
    expect(editorFor(named("shop@1a"), around)).toBe("shop@1a");
    expect(editorFor(OPEN, { ...around, selected: "shop@1a" })).toBe("shop@1a");
    // It may have been sent with the other Editor's name.
    expect(editorFor(OPEN, { ...around, folders: ["/projects/shop/Assets"] })).toEqual(refused);
  });
});
