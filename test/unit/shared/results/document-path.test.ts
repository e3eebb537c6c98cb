import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dottedPath, parsedPath } from "../../../../src/shared/results/document-path.js";
import { itemsOf, pageOf } from "./large-document.js";

const refused = (what: RegExp) =>
  expect.objectContaining({ code: "INVALID_ARGUMENTS", message: expect.stringMatching(what) });

describe("a list further down is named by its path", () => {
  const document = {
    total: 2,
    scene: {
      roots: [
        { name: "Level", children: [1, 2, 3] },
        { name: "UI", children: [] },
      ],
    },
    "a.b": ["dotted"],
    "c/d": { "e~f": ["slashed"], 'g"h': ["quoted"] },
    grid: [[1, 2], [3]],
  };
  const turn = (path: string) => pageOf(document, { page: 1, pageSizeBytes: 1000, path });

  test.each([
    ["scene.roots[0].children", [1, 2, 3]],
    [".scene.roots[0].children", [1, 2, 3]],
    ["/scene/roots/0/children", [1, 2, 3]],
    ["scene.roots.0.children", [1, 2, 3]],
    ["grid[1]", [3]],
    ["a.b", ["dotted"]],
    ['["a.b"]', ["dotted"]],
    ["/c~1d/e~0f", ["slashed"]],
    ['["c/d"].e~f', ["slashed"]],
    ['c/d["g\\"h"]', ["quoted"]],
  ])("%s", (path, items) => {
    expect(itemsOf(turn(path))).toEqual(items);
  });

  test("the page holds the items under the path, nothing of what is around them", () => {
    expect(turn("scene.roots[0].children").data).toEqual({
      "scene.roots[0].children": [1, 2, 3],
      _pagination: {
        field: "scene.roots[0].children",
        start_index: 0,
        end_index: 3,
        total_items: 3,
        total_pages: 1,
      },
    });
  });

  test.each([
    ["scene.rots", /"scene\.rots" does not exist\. "scene" has the keys "roots"\./],
    ["nowhere", /The document has the keys "total", "scene"/],
    ["scene.roots[2].children", /"scene\.roots" has the items 0 to 1/],
    ["scene.roots[1].children[0]", /is an empty array/],
    ["scene.roots[0]", /is not an array: it has the keys "name", "children"/],
    ["total", /is not an array: it is a number/],
    ["scene.toString", /does not exist/],
    ["scene..roots", /is invalid at character 6: write it as/],
    ["scene.roots[-1]", /is invalid at character 12/],
    ["scene.roots[", /is invalid at/],
  ])("%s is refused, and the message says what is there", (path, message) => {
    expect(() => turn(path)).toThrow(refused(message));
  });

  test("long keys and paths are cut in the message", () => {
    const keys = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`${at}`.padStart(200, "k"), [1]]),
    );
    const message = (() => {
      try {
        pageOf(keys, { page: 1, pageSizeBytes: 1000, path: "x".repeat(10_000) });
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    })();
    expect(message).toMatch(/and 480 more/);
    expect(message?.length).toBeLessThan(3000);
  });
});

test("a dotted path that we write is read back, whatever the keys", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (keys) => {
      expect(parsedPath(dottedPath(keys))).toEqual(keys);
    }),
  );
});
