/** How far a call has come, as a waiting command shows it. */
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { barLine, createProgressLines } from "../../../src/cli/client/follow.js";

test("progress without a terminal is a line for every change", () => {
  const lines: string[] = [];
  const view = createProgressLines((line) => lines.push(line));
  view.show({ progress: 1, total: 4, message: "compiling" });
  view.show({ progress: 1, total: 4, message: "compiling" });
  view.show({ progress: 4, total: 4, message: "done" });
  view.show({ progress: 5 });
  // Behind its total is no more than all of it, and what is not all of it yet is less.
  view.show({ progress: 9.99, total: 10, message: "almost" });
  view.show({ progress: 7, total: 4 });
  expect(lines).toEqual(["25 %  compiling", "100 %  done", "5", "99 %  almost", "100 %"]);
});

test("the bar of a terminal fits into its line; what has no total has none", () => {
  const message = "シーンをビルドしています ".repeat(9);
  for (const columns of [20, 40, 80, 200]) {
    const line = barLine({ progress: 1, total: 4, message }, columns);
    expect(stringWidth(line)).toBeLessThan(columns);
    expect(line).toMatch(/^[█░]+ 25 %/);
  }
  expect(barLine({ progress: 1, total: 4, message }, 40)).toMatch(/^██░░░░░░░░ 25 % {2}シーン.*…$/);
  expect(barLine({ progress: 40, message: "did 40" }, 40)).toBe("did 40");
  expect(barLine({ progress: 40 }, 40)).toBe("40");
  expect(barLine({ progress: 9, total: 4, message: "a\u001b[2J" }, 40)).toBe("██████████ 100 %  a\\u001b[2J");
});
