import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  beginningAt,
  countAt,
  documentIn,
  eachItem,
  eachMember,
  endOf,
  MalformedJson,
  stringAt,
  typeAt,
  valueAt,
} from "../../../../src/shared/results/json-text.js";
import { anyItem } from "./large-document.js";

/** With space wherever JSON allows it, or none. */
const written = fc.tuple(anyItem, fc.constantFrom(0, 1, "\t")).map(([value, space]) => ({
  value,
  text: Buffer.from(`${space ? " \r\n" : ""}${JSON.stringify(value, undefined, space)}${space ? "\n" : ""}`),
}));

/** The value put together from its places, never parsed as a whole. */
function read(text: Uint8Array, start: number): unknown {
  switch (typeAt(text, start)) {
    case "array": {
      const items: unknown[] = [];
      eachItem(text, start, (at) => {
        items.push(read(text, at));
        return endOf(text, at);
      });
      return items;
    }
    case "object": {
      const entries: [string, unknown][] = [];
      eachMember(text, start, (key, at) => {
        entries.push([stringAt(text, key), read(text, at)]);
        return endOf(text, at);
      });
      return Object.fromEntries(entries);
    }
    default:
      return valueAt(text, { start, end: endOf(text, start) });
  }
}

describe("places", () => {
  test("lead to every value, in order, however the text is spaced", () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        const place = documentIn(text);
        expect(read(text, place.start)).toEqual(value);
        expect(valueAt(text, place)).toEqual(value);
        const count = typeof value === "object" && value !== null ? Object.keys(value).length : 0;
        expect(countAt(text, place.start)).toBe(count);
      }),
    );
  });

  test.each([
    "",
    "  ",
    '{"a":',
    "[1,2",
    '"open',
    '"a\\',
    "[1 2]",
    '{"a" 1}',
    "{a:1}",
    "1 2",
    "[,]",
    "}",
    '{"a":1,}',
  ])("%j is refused", (text) => {
    const bytes = Buffer.from(text);
    expect(() => read(bytes, documentIn(bytes).start)).toThrow(MalformedJson);
  });

  test("what is no JSON inside of brackets that match is refused when it is taken out", () => {
    const text = Buffer.from("[1,nonsense]");
    expect(() => valueAt(text, documentIn(text))).toThrow(MalformedJson);
  });
});

test("the beginning of a string is read without the rest, and the rest is counted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat(40), (value, units) => {
      const text = Buffer.from(JSON.stringify(value));
      const beginning = beginningAt(text, 0, units);
      expect(beginning.length).toBe(value.length);
      expect(value.startsWith(beginning.text)).toBe(true);
      expect(beginning.text.length).toBeGreaterThanOrEqual(Math.min(units, value.length));
      expect(beginning.text.length).toBeLessThanOrEqual(units + 1);
    }),
  );
});
