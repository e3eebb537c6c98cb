import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shortened } from "../../../../src/shared/printable.js";
import {
  anyItem,
  fieldsBeside,
  gameObject,
  nested,
  previewed as previewOf,
  writtenBytes,
} from "./large-document.js";

const MOST = 2000;
const items = Array.from({ length: 400 }, (_, at) => gameObject(at + 1));

describe("a preview tells what is in a document", () => {
  test("of an object: its keys with types and sizes, and what the items of its list look like", () => {
    const document = { scene: "Main", isDirty: false, hierarchy: items, settings: { a: 1, b: null } };
    expect(previewOf(document)).toEqual({
      type: "object",
      bytes: writtenBytes(document),
      estimated_tokens: Math.ceil(writtenBytes(document) / 3),
      keys: {
        scene: "string 6 B",
        isDirty: "boolean",
        hierarchy: `array[400] ${writtenBytes(items)} B`,
        settings: "object{2} 16 B",
      },
      list: "hierarchy",
      item_fields: {
        name: "string",
        instanceId: "number",
        path: "string",
        position: "object",
        componentNames: "array",
      },
      sample: [gameObject(1), gameObject(2)],
    });
  });

  test("of a list: its length and the fields of its first items, with all their types", () => {
    const document = [{ name: "a" }, { name: null, tag: "t" }, ...items];
    expect(previewOf(document)).toMatchObject({
      type: "array",
      length: 402,
      item_fields: { name: "string|null", tag: "string", instanceId: "number" },
      sample: [{ name: "a" }, { name: null, tag: "t" }],
    });
  });

  test("of a list further down that is most of the document", () => {
    const { list, item_fields } = previewOf({ success: true, data: { hierarchy: items } });
    expect(list).toBe("data.hierarchy");
    expect(item_fields).toHaveProperty("componentNames", "array");
  });

  test("samples are shortened: long strings, long lists, many keys, deep parts", () => {
    const keys = Object.fromEntries(Array.from({ length: 14 }, (_, at) => [`k${at}`, at]));
    const { sample } = previewOf([
      { text: "x".repeat(1000), list: Array(20).fill(1), deep: { a: { b: { c: 1 }, d: [1, 2] } }, keys },
    ]);
    expect(sample).toEqual([
      {
        text: `${"x".repeat(80)}…(+920 characters)`,
        list: [...Array(12).fill(1), "…(+8 items)"],
        deep: { a: { b: "object{1}", d: "array[2]" } },
        keys: { ...Object.fromEntries(Object.entries(keys).slice(0, 12)), "…": "+2 keys" },
      },
    ]);
  });

  test("long keys are shortened as well", () => {
    const { sample } = previewOf([{ ["k".repeat(500)]: 1 }]);
    expect(sample).toEqual([{ [`${"k".repeat(80)}…(+420 characters)`]: 1 }]);
  });

  test("of a string: its beginning; of other scalars: the value; of what is empty: that", () => {
    expect(previewOf("x".repeat(1_000_000))).toEqual({
      type: "string",
      bytes: 1_000_002,
      estimated_tokens: 333_334,
      length: 1_000_000,
      value: `${"x".repeat(200)}…(+999800 characters)`,
    });
    expect(previewOf(12)).toEqual({ type: "number", bytes: 2, estimated_tokens: 1, value: 12 });
    expect(previewOf(null)).toMatchObject({ type: "null", value: null });
    expect(previewOf([])).toMatchObject({ type: "array", length: 0, sample: [] });
    expect(previewOf({})).toMatchObject({ type: "object", keys: {} });
  });

  test("many keys: the first ones are shown and the others counted", () => {
    const document = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at]));
    const { keys = {}, more_keys = 0 } = previewOf(document);
    expect(Object.keys(keys)).toHaveLength(30);
    expect(more_keys).toBe(970);
  });

  test("an emoji is never cut in half", () => {
    expect(shortened("a🧱b", 2)).toBe("a…(+3 characters)");
    expect(shortened("a🧱b", 3)).toBe("a🧱…(+1 characters)");
    for (const document of ["🧱".repeat(5000), `a${"🧱".repeat(5000)}`]) {
      for (const place of [document, [document], { [document]: document }, [{ [document]: document }]]) {
        expect(JSON.stringify(previewOf(place))).not.toMatch(/\\ud[89a-f]/);
      }
    }
  });

  test("a key __proto__ is a key like others", () => {
    const document = JSON.parse('{"__proto__": [{"__proto__": 1}]}') as unknown;
    const { keys, item_fields, sample } = previewOf(document);
    expect([keys, item_fields, sample].map((part) => JSON.stringify(part))).toEqual([
      '{"__proto__":"array[1] 17 B"}',
      '{"__proto__":"number"}',
      '[{"__proto__":1}]',
    ]);
  });
});

describe("a preview is small and valid JSON, whatever the document", () => {
  test("10 000 levels do not overflow the stack", () => {
    for (const document of [nested(10_000), `[${nested(10_000)}]`, "[".repeat(10_000) + "]".repeat(10_000)]) {
      expect(writtenBytes(previewOf(Buffer.from(document)))).toBeLessThanOrEqual(MOST);
    }
  });

  test("huge keys, huge strings, text of many bytes", () => {
    for (const unit of ["x", "\u0000", "界", "🧱", "\ud800"]) {
      const huge = unit.repeat(2000);
      const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}${huge}`, huge]));
      for (const document of [
        huge,
        [huge, huge],
        many,
        [many, many],
        { [huge]: [many] },
        { a: [[[[many]]]] },
      ]) {
        expect(writtenBytes(previewOf(document))).toBeLessThanOrEqual(MOST);
      }
    }
  });

  test("any document", () => {
    const documents = fc.oneof(
      anyItem,
      fc.array(fieldsBeside(), { maxLength: 40 }),
      fc.dictionary(fc.string({ maxLength: 200, unit: "binary" }), anyItem, { maxKeys: 60 }),
    );
    fc.assert(
      fc.property(documents, (document) => {
        const text = JSON.stringify(previewOf(document));
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MOST);
        expect(JSON.parse(text)).toMatchObject({ bytes: writtenBytes(document) });
      }),
    );
  });

  test("cut text is the beginning, then how much was cut, and no half of a pair that was whole", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(40), (text, limit) => {
        const cut = shortened(text, limit);
        if (text.length <= limit) return cut === text;
        const [, beginning = "", count = ""] = /^(.*)…\(\+(\d+) characters\)$/s.exec(cut) ?? [];
        expect(text.startsWith(beginning)).toBe(true);
        expect(beginning.length + Number(count)).toBe(text.length);
        expect(beginning.length).toBeLessThanOrEqual(limit);
        return !/\\ud[89a-f]/.test(JSON.stringify(beginning));
      }),
    );
  });
});
