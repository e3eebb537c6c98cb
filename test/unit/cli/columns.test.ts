/** Texts on a terminal: by the columns that they take there, not by their units. */
import { expect, test } from "vitest";
import { cut, wrap } from "../../../src/cli/columns.js";

test.each([
  ["short", 5, "short"],
  ["longer", 5, "long…"],
  // Two columns each.
  ["日本語", 6, "日本語"],
  ["日本語", 5, "日本…"],
  ["日本語", 4, "日…"],
  // One character of several units is never cut apart.
  ["👩‍💻👩‍💻👩‍💻", 5, "👩‍💻👩‍💻…"],
  ["e\u0301te\u0301s", 3, "e\u0301t…"],
  ["\u001b[31mlonger\u001b[39m", 5, "\u001b[31mlong…\u001b[39m"],
  ["\u001b[1mab\u001b[22m\u001b[31mcd\u001b[39m", 2, "\u001b[1ma…\u001b[22m\u001b[31m\u001b[39m"],
])("%j in %i columns", (text, width, shown) => {
  expect(cut(text, width)).toBe(shown);
});

test("sentences are wrapped at spaces, and their own lines stay", () => {
  expect(wrap("one two three\nfour", 8)).toBe("one two\nthree\nfour");
  expect(wrap("日本 日本 日本", 9)).toBe("日本 日本\n日本");
  expect(wrap("a-word-that-is-too-long for it", 8)).toBe("a-word-that-is-too-long\nfor it");
});
