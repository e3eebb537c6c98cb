/** What `watch` tells: each change once, what is open first, and nothing that an Editor wrote moves the cursor. */
import pc from "picocolors";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { changeLine, renderWatch } from "../../../src/cli/watch/screen.js";
import { changesBetween, type Snapshot } from "../../../src/cli/watch/snapshot.js";
import type { Answer } from "../../../src/shared/operation/answer.js";

const plain = pc.createColors(false);
const NOW = Date.UTC(2026, 0, 1, 12);
const op = (log_id: string, state: string, more = {}): Answer =>
  ({ status: "running", log_id, state, tool: "work", editor: "e@1", message: "", ...more }) as Answer;
const editor = (id: string, connected: boolean, more = {}) => ({
  ...{ id, project: id, unity_version: "6000.0", connected },
  ...more,
});
const look = (operations: Answer[], more: Partial<Snapshot> = {}): Snapshot => ({
  editors: [],
  operations,
  ...more,
});

test("the first look tells what is open, later ones what has changed, in the order of acceptance", () => {
  const first = look([op("b", "queued"), op("a", "completed")]);
  expect(changesBetween(undefined, first).map(({ id, to }) => [id, to])).toEqual([["b", "queued"]]);
  const second = look([op("d", "failed"), op("c", "running"), op("b", "running"), op("a", "completed")]);
  expect(changesBetween(first, second).map(({ id, from, to }) => [id, from, to])).toEqual([
    ["b", "queued", "running"],
    ["c", undefined, "running"],
    ["d", undefined, "failed"],
  ]);
  expect(changesBetween(second, second)).toEqual([]);
});

test("Editors come, pause, go away and are forgotten", () => {
  const steps = [
    [editor("e", true, { phase: "ready" })],
    [editor("e", true, { phase: "ready", paused: true })],
    [editor("e", false)],
    [],
  ].map((editors) => look([], { editors }));
  const told = steps.flatMap((step, at) => changesBetween(steps[at - 1], step).map(({ to }) => to));
  expect(told).toEqual(["ready", "ready, paused", "away", "forgotten"]);
});

test("a broker that does not answer is told once, and that it is back; what it had is not forgotten", () => {
  const there = look([op("a", "running")], { editors: [editor("e", true)] });
  const gone = { ...there, trouble: "no answer" };
  expect(changesBetween(there, gone)).toEqual([
    { what: "broker", id: "broker", from: undefined, to: "no answer" },
  ]);
  expect(changesBetween(gone, gone)).toEqual([]);
  expect(changesBetween(gone, there)).toMatchObject([{ what: "broker", to: "answers again" }]);
});

test("a small screen keeps what is open", () => {
  const ended = Array.from({ length: 30 }, (_, n) => op(`ended-${n}`, "completed"));
  const text = renderWatch(look([...ended, op("open", "running")]), { now: NOW, rows: 10 }, plain);
  expect(text.split("\n")).toHaveLength(10);
  expect(text).toContain("open");
  expect(text).toMatch(/… \d+ more$/);
});

test("every terminal is filled, and no line is longer than it is wide", () => {
  const many = Array.from({ length: 40 }, (_, n) => editor(`shop-${n}@1`, true));
  const names = { tool: "日本語のツール", editor: "shop-日本語プロジェクト@53316fd1" };
  const progress = { progress: 1, total: 2, message: "シーンをビルドしています ".repeat(20) };
  const operations = Array.from({ length: 15 }, (_, n) => op(`${n}`, "running", { ...names, progress }));
  const colours = pc.createColors(true);
  for (const columns of [40, 60, 80, 120, 200])
    for (const rows of [10, 24, 60]) {
      const screen = { now: NOW, rows, columns };
      const lines = renderWatch(
        look(operations, { editors: many, trouble: "x".repeat(300) }),
        screen,
        colours,
      );
      expect(lines.split("\n").length).toBeLessThanOrEqual(rows);
      for (const line of lines.split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
      // Both tables are there.
      expect(lines).toMatch(/shop-0@1[\s\S]*running/);
    }
  const wide = renderWatch(look(operations), { now: NOW, rows: 24, columns: 200 }, plain);
  expect(wide).toContain(names.editor);
});

test("a log_id is whole where there is room, and else looks cut", () => {
  const id = "41ac4c7e-30b5-4039-af15-fd76a4af6e57";
  const shown = (columns: number) =>
    renderWatch(look([op(id, "running")]), { now: NOW, rows: 20, columns }, plain);
  expect(shown(80)).toContain("41ac4c7e…");
  expect(shown(120)).toContain(id);
});

test("what runs stands above what waits, the next one first, and both above what has ended", () => {
  const operations = [op("e", "queued"), op("d", "queued"), op("c", "completed"), op("b", "running")];
  const text = renderWatch(look(operations), { now: NOW, rows: 20 }, plain);
  expect([...text.matchAll(/^([a-e])… {2}/gm)].map(([, id]) => id)).toEqual(["b", "d", "e", "c"]);
});

test("a broker that says nothing is told, after a while", () => {
  const shown = (silentMs: number) => renderWatch(look([]), { now: NOW, rows: 20, silentMs }, plain);
  expect(shown(2_000)).not.toContain("No answer");
  expect(shown(5_000)).toContain("No answer for 5 s.");
});

test("progress has a bar where there is room, and stays within its bounds", () => {
  const progress = { progress: 14, total: 7, message: "over\u001b[2J" };
  const wide = renderWatch(
    look([op("a", "running", { progress })]),
    { now: NOW, rows: 10, columns: 120 },
    plain,
  );
  expect(wide).toContain("██████████ 100 % over\\u001b[2J");
  const narrow = renderWatch(look([op("a", "running", { progress })]), { now: NOW, rows: 10 }, plain);
  expect(narrow).not.toContain("█");
  expect(narrow).toContain("100 %");
});

test("no text of an Editor reaches the terminal with its commands", () => {
  const evil = "x\u001b[2J\n";
  const change = { what: "operation" as const, id: evil, from: evil, to: evil, about: evil };
  const shown = [
    changeLine(change, NOW, plain),
    renderWatch(
      look([op(evil, "running", { tool: evil, progress: { progress: 1, message: evil } })], {
        editors: [editor(evil, true)],
        trouble: evil,
      }),
      { now: NOW, rows: 20 },
      plain,
    ),
  ].join("");
  expect(shown).not.toContain("\u001b");
});
