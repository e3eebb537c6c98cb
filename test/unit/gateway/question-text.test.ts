/** What a user is shown before a destructive tool runs: all that it is about, or first that not all of it is shown. */
import { expect, test } from "vitest";
import { questionText } from "../../../src/gateway/mcp/question-text.js";

const ask = (args: string, tool = "run-code"): string =>
  questionText({ tool, editor: "game@1", arguments: args });

test("arguments are shown whole up to 8 000 characters", () => {
  const args = `${"a".repeat(3_900)}DeleteAll()${"z".repeat(4_089)}`;
  expect(args).toHaveLength(8_000);
  const text = ask(args);
  expect(text).toContain(args);
  expect(text).not.toContain("NOT SHOWN");
});

test("of longer ones the first line says how much is not shown, before the beginning and the end", () => {
  const text = ask(`first${"x".repeat(20_000)}last`);
  const [warning, run, shown = ""] = text.split("\n");
  expect(warning).toBe(
    "NOT SHOWN: 12009 of 20009 characters of the arguments. Say yes only if you know them.",
  );
  expect(run).toMatch(/^Run run-code in the Unity Editor game@1\?/);
  expect(shown).toMatch(/^Arguments: firstx+…\(\+12009 characters\)… x+last$/);
  expect(shown.length).toBeLessThan(8_100);
});

test.each([
  [0x200b, "\\u200b"],
  [0x2060, "\\u2060"],
  [0xfeff, "\\ufeff"],
  [0xad, "\\u00ad"],
  [0xa0, "\\u00a0"],
  [0x3000, "\\u3000"],
  [0x2003, "\\u2003"],
  [0x2028, "\\u2028"],
  [0x202e, "\\u202e"],
  [0x2800, "\\u2800"],
  [0x3164, "\\u3164"],
  [0x115f, "\\u115f"],
  [0x1160, "\\u1160"],
  [0xffa0, "\\uffa0"],
  [0x34f, "\\u034f"],
  [0x180e, "\\u180e"],
  [0xfe0f, "\\ufe0f"],
  [0xe0101, "\\u{e0101}"],
  [0xe0041, "\\u{e0041}"],
  [0xd800, "\\ud800"],
  [0x1b, "\\u001b"],
])("the character %i is shown by its code, also in a tool's name", (code, shown) => {
  const text = ask(`a${String.fromCodePoint(code)}b`, `t${String.fromCodePoint(code)}`);
  expect(text).toContain(`Arguments: a${shown}b`);
  expect(text).toContain(`Run t${shown} in`);
});

test("unseen characters that make arguments long push nothing away in silence", () => {
  expect(ask(`{"code":"a${"\u200b".repeat(7_000)}Delete()"}`)).toContain("a …(7000 times \\u200b)… Delete()");
  expect(ask(`a${"\u200b\u2060".repeat(3_500)}Delete()`)).toMatch(/^NOT SHOWN: \d+ of 420\d\d characters/);
});

test("what can be seen stays as it is, and a run of blanks becomes its length", () => {
  const seen = '{"Name":"Würfel 立方体 🎮 é"}';
  expect(ask(seen)).toContain(seen);
  expect(ask(`a${" ".repeat(7)}b`)).toContain(`a${" ".repeat(7)}b`);
  expect(ask(`a${" ".repeat(9_000)}b`)).toContain("a …(9000 blanks)… b");
});
