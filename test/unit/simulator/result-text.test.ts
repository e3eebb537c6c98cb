/** Results of a simulated Editor, written piece by piece. */
import { expect, test } from "vitest";
import { lazyList, resultText } from "../../../src/simulator/results/result-text.js";

const whole = (result: unknown): string => {
  const text = resultText(result);
  return text.part(0, text.length).toString("utf8");
};

test.each([
  [null],
  [undefined],
  ['ä€👾"\n'],
  [1.5],
  [[]],
  [{}],
  [{ a: undefined, b: null, 'ü"': [1, undefined, { c: [] }] }],
  [{ when: new Date(0), nested: { deep: [[1], { x: lazyList(2, String) }] } }],
  [[{ a: 1 }, [2], "3"]],
  [{ items: lazyList(0, String) }],
])("%j is written as JSON.stringify does", (result) => {
  expect(whole(result)).toBe(JSON.stringify(result ?? null));
});

test("a list is made once, item by item, and read in parts wherever its blocks end", () => {
  const made: number[] = [];
  const item = (index: number) => ({ index, name: `Objekt ${"ä".repeat(index % 50)}` });
  const text = resultText({
    items: lazyList(5_000, (index) => {
      made.push(index);
      return item(index);
    }),
  });
  const expected = Buffer.from(JSON.stringify({ items: Array.from({ length: 5_000 }, (_, at) => item(at)) }));
  expect(made).toHaveLength(5_000);
  expect(text.length).toBe(expected.length);
  for (const size of [1_000, 65_536, 100_000]) {
    const parts: Buffer[] = [];
    for (let at = 0; at < text.length; at += size) parts.push(text.part(at, size));
    expect(Buffer.concat(parts).equals(expected), `parts of ${size}`).toBe(true);
  }
  expect(text.part(text.length, 10)).toHaveLength(0);
});
