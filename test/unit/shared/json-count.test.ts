import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { excessOf } from "../../../src/shared/wire/rpc.js";

/** The least `most` that the text does not exceed. */
function countOf(text: string): number {
  const bytes = Buffer.from(text);
  let most = 0;
  while (excessOf(bytes, most)) most += 1;
  return most;
}

/** Brackets that open, and what stands before the members and items of a value. */
function structureOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value);
  const colons = Array.isArray(value) ? 0 : inner.length;
  const commas = Math.max(0, inner.length - 1);
  return inner.reduce<number>((sum, each) => sum + structureOf(each), 1 + colons + commas);
}

describe("The values of a text", () => {
  test.each([
    ["", 0],
    ["7", 0],
    ["{}", 1],
    ["[1,2,3]", 3],
    ['{"a":{"b":[]}}', 5],
    ["[[[[", 4],
  ])("%s: %i", (text, count) => {
    expect(countOf(text)).toBe(count);
  });

  test.each([
    ["commas and brackets", ",,[[{{::"],
    ["a quote", 'a","b'],
    ["a backslash at the end", "\\"],
    ["backslashes and quotes", '\\\\"\\\\\\",'],
    ["what is longer than what is looked at one by one", `${"x".repeat(200)}",[",`],
    ["backslashes as long as that", `${"\\".repeat(199)}",[`],
    ["one more of them", `${"\\".repeat(200)}",[`],
    ["quotes far from each other", `${"x".repeat(99)}",[`.repeat(20)],
    ["more than one byte a letter", "ü,日本,🎮,".repeat(30)],
  ])("are not %s in a string", (_, string) => {
    expect(countOf(JSON.stringify([string, { [string]: string }]))).toBe(4);
  });

  test("are counted up to the limit and no further", () => {
    const read: number[] = [];
    const text = new Proxy(Buffer.from("[".repeat(1000)), {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) read.push(Number(key));
        return Reflect.get(target, key, target);
      },
    });
    expect(excessOf(text, 10)).toBe("values");
    expect(Math.max(...read)).toBe(10);
  });

  test("nest as deep as brackets are open at once, and those in strings do not count", () => {
    expect(excessOf(Buffer.from('[[{"a":[1]}],["[[[["]]'), 100, 4)).toBeUndefined();
    expect(excessOf(Buffer.from('[[{"a":[1]}],["[[[["]]'), 100, 3)).toBe("levels");
    expect(excessOf(Buffer.from("[],".repeat(50)), 100, 1)).toBeUndefined();
    expect(excessOf(Buffer.from("[".repeat(50)), 10, 20)).toBe("values");
  });

  test("of a string that does not end are none", () => {
    expect(countOf('["a,,,,')).toBe(1);
    expect(countOf(`["${"a,".repeat(100)}\\`)).toBe(1);
  });

  test("are as many as those that are parsed", () => {
    const string = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc
        .array(fc.constantFrom('"', "\\", ",", "[", "x", "x".repeat(63)), { maxLength: 12 })
        .map((all) => all.join("")),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        string,
        fc.double(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 5 }),
        fc.dictionary(string, tie("value"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1), (any, space) => {
        const text = JSON.stringify(any, undefined, space);
        expect(countOf(text)).toBe(structureOf(JSON.parse(text)));
      }),
    );
  });
});
