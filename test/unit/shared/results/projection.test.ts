import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyItem, gameObject, nested, pageOf, projected as project } from "./large-document.js";

const scene = {
  scene: "Main",
  tags: ["Player"],
  hierarchy: Array.from({ length: 5 }, (_, at) => gameObject(at + 1)),
};

const refused = (what: RegExp) =>
  expect.objectContaining({ code: "INVALID_ARGUMENTS", message: expect.stringMatching(what) });

describe("some fields of some items, without jq", () => {
  test("items are reduced to the named fields, and the answer says what there is besides", () => {
    expect(project(scene, { fields: ["name", "instanceId"], offset: 1, limit: 2 })).toEqual({
      field: "hierarchy",
      items: [
        { name: "Wall_2", instanceId: -2 },
        { name: "Wall_3", instanceId: -3 },
      ],
      offset: 1,
      total_items: 5,
      next_offset: 3,
    });
  });

  test("dotted, bracket and pointer fields reach into an item and stand under the name that was asked", () => {
    const fields = ["position.z", "componentNames[1]", "/position/y"];
    expect(project(scene, { fields, limit: 1 }).items).toEqual([
      { "position.z": -1, "componentNames[1]": "BoxCollider", "/position/y": 0 },
    ]);
  });

  test("a key that looks like a path is that key, also one that no path could name", () => {
    const items = [{ "a.b": 1, a: { b: 2 }, "odd[": 3 }];
    expect(project(items, { fields: ["a.b", '["a"].b', "odd["] }).items).toEqual([
      { "a.b": 1, '["a"].b': 2, "odd[": 3 },
    ]);
  });

  test("without fields, or with none, items are whole", () => {
    expect(project(scene, {}).items).toEqual(scene.hierarchy);
    expect(project(scene, { fields: [] }).items).toEqual(scene.hierarchy);
  });

  test("a field that an item lacks is left out of it; null is a value", () => {
    const items = [{ a: 1 }, { a: null, b: 2 }, {}];
    expect(project(items, { fields: ["a", "b"] })).toEqual({
      items: [{ a: 1 }, { a: null, b: 2 }, {}],
      offset: 0,
      total_items: 3,
    });
  });

  test("fields that nothing has are reported, with what the first item has", () => {
    expect(project(scene, { fields: ["nmae", "position.q", "toString"], limit: 1 })).toMatchObject({
      items: [{}],
      missing_fields: ["nmae", "position.q", "toString"],
      hint: 'The first item has the keys "name", "instanceId", "path", "position", "componentNames".',
    });
  });

  test("items that are no objects stay as they are", () => {
    expect(project(["a", 1, null, [2]], { fields: ["x"] })).toEqual({
      items: ["a", 1, null, [2]],
      offset: 0,
      total_items: 4,
    });
  });

  test("a field __proto__ is a field like others", () => {
    const items = JSON.parse('[{"__proto__": 1, "a": 2}]') as unknown[];
    expect(JSON.stringify(project(items, { fields: ["__proto__"] }).items)).toBe('[{"__proto__":1}]');
  });

  test("a path chooses the list", () => {
    expect(project(scene, { path: "tags" })).toMatchObject({ field: "tags", items: ["Player"] });
    expect(project(scene, { path: "/hierarchy/0/componentNames", limit: 1 })).toMatchObject({
      field: "/hierarchy/0/componentNames",
      items: ["Transform"],
      total_items: 2,
    });
    expect(() => project(scene, { path: "hierachy" })).toThrow(refused(/has the keys "scene", "tags"/));
  });

  test("an object without a list is its own one item", () => {
    const settings = { quality: { shadows: "hard" }, log: "x".repeat(10_000) };
    expect(project(settings, { fields: ["quality.shadows"] })).toEqual({
      items: [{ "quality.shadows": "hard" }],
      offset: 0,
      total_items: 1,
    });
  });

  test("a document without fields or items is refused, and the message says what to ask instead", () => {
    expect(() => project("text", { fields: ["a"] })).toThrow(refused(/no items: it is a string.*jq/));
  });

  test("beyond the end there are no items, but the total; limit 0 asks for the total alone", () => {
    expect(project(scene, { offset: 5 })).toEqual({
      field: "hierarchy",
      items: [],
      offset: 5,
      total_items: 5,
    });
    expect(project(scene, { limit: 0 })).toMatchObject({ items: [], total_items: 5, next_offset: 0 });
    expect(project([], { fields: ["a"] })).toEqual({ items: [], offset: 0, total_items: 0 });
  });

  test.each([-1, 0.5, Number.NaN])("limit and offset %d are refused", (value) => {
    expect(() => project(scene, { limit: value })).toThrow(refused(/^limit/));
    expect(() => project(scene, { offset: value })).toThrow(refused(/^offset/));
  });

  test.each(["a..b", "a[", "[x]"])("a field %s that cannot be read is refused", (field) => {
    expect(() => project(scene, { fields: [field] })).toThrow(refused(/is invalid at/));
  });

  test("10 000 levels do not overflow the stack", () => {
    expect(project(Buffer.from(`[${nested(10_000)}]`), { fields: ["name"] }).items).toEqual([{ name: "a" }]);
  });
});

describe("whatever the document", () => {
  test("following next_offset passes every item once, in order", () => {
    fc.assert(
      fc.property(fc.array(anyItem), fc.integer({ min: 1, max: 5 }), (document, limit) => {
        const passed: unknown[] = [];
        for (let offset: number | undefined = 0; offset !== undefined; ) {
          const part = project(document, { offset, limit });
          passed.push(...part.items);
          offset = part.next_offset;
        }
        expect(passed).toEqual(document);
      }),
    );
  });

  test("pages and projections choose the same list", () => {
    const list = fc.array(fc.string(), { minLength: 1, maxLength: 5 });
    const documents = fc
      .dictionary(fc.string(), fc.oneof(list, fc.dictionary(fc.string(), list)), { minKeys: 1 })
      .filter((document) => Object.values(document).some(Array.isArray));
    fc.assert(
      fc.property(documents, (document) => {
        const { pagination } = pageOf(document, { page: 1, pageSizeBytes: 1 });
        expect(project(document, {}).total_items).toBe(pagination.total_items);
      }),
    );
  });
});
