/** What the operators' page computes without a browser. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { addressOf, filterOf, placeOf, timeOf } from "../../../src/page/address.js";
import { age, duration, idParts, percent } from "../../../src/page/format.js";
import type { History } from "../../../src/page/model.js";
import { hasEnded, LOOKS } from "../../../src/page/states.js";
import { scaleOf } from "../../../src/page/story/scale.js";
import { storyOf } from "../../../src/page/story/story.js";
import { standingOf } from "../../../src/page/views/editor-standing.js";
import { withRunning } from "../../../src/page/views/running-row.js";
import { isFinal, STATES } from "../../../src/shared/operation/operation.js";

test("every state of an operation has a word and a shape of its own", () => {
  expect(Object.keys(LOOKS)).toEqual([...STATES]);
  const looks = Object.values(LOOKS);
  for (const name of ["word", "shape"] as const)
    expect(new Set(looks.map((look) => look[name])).size).toBe(STATES.length);
  for (const state of STATES) expect([state, hasEnded(state)]).toEqual([state, isFinal(state)]);
});

test("no file of the page makes markup of a text, or code", () => {
  const folder = new URL("../../../src/page/", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  expect(files.length).toBeGreaterThan(20);
  const words = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;
  expect(files.filter((name) => words.test(readFileSync(new URL(name, folder), "utf8")))).toEqual([]);
});

describe("texts", () => {
  test.each([
    [0, "0 ms"],
    [840, "840 ms"],
    [6_240, "6.2 s"],
    [59_000, "59 s"],
    [250_000, "4 min 10 s"],
    [3_600_000, "1 h"],
    [11_100_000, "3 h 5 min"],
    [187_200_000, "2 d 4 h"],
    [9_960, "10 s"],
    [59_700, "1 min"],
    [3_599_700, "1 h"],
    [86_399_000, "1 d"],
  ])("%d ms is %s", (ms, text) => expect(duration(ms)).toBe(text));

  test("an age has one unit", () => {
    expect([1_000, 59_000, 61_000, 7_200_000, 300_000_000].map(age)).toEqual([
      "just now",
      "59 s ago",
      "1 min ago",
      "2 h ago",
      "3 d ago",
    ]);
  });

  test("an Editor's name is what stands before the last @; progress without a whole has no part", () => {
    expect(idParts("a@b@1f2e")).toEqual({ name: "a@b", rest: "@1f2e" });
    expect(idParts("pool:android")).toEqual({ name: "pool:android", rest: "" });
    expect([
      percent({ progress: 3, total: 4 }),
      percent({ progress: 9, total: 4 }),
      percent({ progress: 3 }),
    ]).toEqual([75, 100, undefined]);
  });
});

describe("addresses", () => {
  test("each place is found again by its address", () => {
    expect(placeOf("/operators", "")).toMatchObject({ view: "editors" });
    expect(placeOf("/operators/nothing", "")).toMatchObject({ view: "editors" });
    expect(placeOf("/operators/operations/a%2Fb", "")).toEqual({ view: "operation", logId: "a/b" });
    const filter = filterOf(new URLSearchParams("state=failed&evil=1&q=%20&tool= run-tests"));
    expect(addressOf("operations", filter)).toBe("/operators/operations?state=failed&tool=run-tests");
  });

  test("a time is relative, or a moment; anything else is none", () => {
    const now = Date.parse("2027-01-31T12:00:00Z");
    expect(timeOf("-24h", now)).toBe("2027-01-30T12:00:00.000Z");
    expect(timeOf("-15m", now)).toBe("2027-01-31T11:45:00.000Z");
    expect(timeOf("2027-01-31T00:00:00Z", now)).toBe("2027-01-31T00:00:00.000Z");
    expect([timeOf("", now), timeOf("-1y", now), timeOf("soon", now)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the axis", () => {
  test("is linear while the operation lives, however long nothing happens", () => {
    const { at, breaks } = scaleOf([0, 10, 360_000], 360_000);
    expect(breaks).toEqual([]);
    expect([at(0), at(180_000), at(360_000)]).toEqual([0, 0.5, 1]);
  });

  test("shortens a long gap after the end, and keeps the order of all times", () => {
    const times = [0, 50, 5_000, 5_100, 10_800_000, 10_800_200];
    const { at, breaks, ticks } = scaleOf(times, 5_000);
    expect(breaks.map(({ ms }) => ms)).toEqual([10_794_900]);
    expect(at(5_000)).toBeGreaterThan(0.8);
    const places = times.map(at);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect([places[0], places.at(-1)]).toEqual([0, 1]);
    expect(ticks.every((tick) => tick.at <= (breaks[0]?.from ?? 0))).toBe(true);
  });

  test("of one moment is an axis too", () => {
    expect(scaleOf([7], 7).at(7)).toBe(0);
  });
});

const iso = (ms: number): string => new Date(ms).toISOString();

describe("a story", () => {
  const history: History = {
    log_id: "1",
    tool: "build",
    editor: "shop@1",
    state: "completed",
    why_once: "",
    ended_at: iso(9_000),
    timeline: [
      { at: iso(0), event: "accepted" },
      { at: iso(1_000), event: "sent" },
      { at: iso(2_000), event: "started" },
      { at: iso(9_000), event: "completed" },
    ],
    calls: [
      { relation: "created", at: iso(0), caller: "a" },
      { relation: "joined", at: iso(3_000), caller: "a", delivered_at: iso(9_100) },
      { relation: "replayed", at: iso(20_000), caller: "b", delivered_at: iso(20_100) },
      { relation: "read", at: iso(30_000), caller: "c", delivered_at: iso(30_000) },
    ],
  };

  test("has one execution, and a line for each call until it was answered", () => {
    const { segments, lanes, calls, end } = storyOf(history, [], 99_000);
    expect(segments).toEqual([
      { kind: "waited", from: 0, to: 1_000 },
      { kind: "sent", from: 1_000, to: 2_000 },
      { kind: "ran", from: 2_000, to: 9_000 },
    ]);
    expect(lanes.map(({ from, to, isAnswered }) => [from, to, isAnswered])).toEqual([
      [0, 9_000, false],
      [3_000, 9_100, true],
      [20_000, 20_100, true],
      [30_000, 30_000, true],
    ]);
    expect([calls, end]).toEqual([3, 9_000]);
  });

  test("has a mark for the first report of each kind, and for the last of several", () => {
    const iso = (ms: number): string => new Date(ms).toISOString();
    const times = (first: number, last: number, count: number) => ({
      ...{ first_at: iso(first), last_at: iso(last) },
      count,
    });
    const reports = { progress: times(3_000, 8_000, 12), partial: times(5_000, 5_000, 1) };
    const { marks } = storyOf({ ...history, reports }, [], 99_000);
    expect(marks.filter(({ kind }) => kind !== "cancel")).toEqual([
      { at: 3_000, kind: "progress", text: "first progress" },
      { at: 8_000, kind: "progress", text: "last progress of 12" },
      { at: 5_000, kind: "partial", text: "first partial result" },
    ]);
  });

  test("of an operation that waits goes on until now", () => {
    const waiting: History = {
      ...history,
      state: "queued",
      timeline: history.timeline.slice(0, 1),
      calls: [],
    };
    expect(storyOf(waiting, [], 5_000).segments).toEqual([{ kind: "waited", from: 0, to: 5_000 }]);
  });
});

test("an Editor stands in one place: those that need somebody first", () => {
  const editor = { id: "shop@1", project: "shop", connected: true };
  const diagnosis = { code: "MODAL_DIALOG", message: "", next: "" };
  const running = { tool: "build" };
  expect(standingOf(editor)).toBe("idle");
  expect(standingOf({ ...editor, running, paused: true })).toBe("working");
  expect(standingOf({ ...editor, paused: true })).toBe("paused");
  expect(standingOf({ ...editor, running, diagnosis })).toBe("trouble");
  expect(standingOf({ ...editor, diagnosis: { ...diagnosis, code: "TOOLS_LEFT_OUT" } })).toBe("idle");
  expect(standingOf({ ...editor, connected: false })).toBe("away");
});

test("an Editor runs what its row says, not what else runs there in the background", () => {
  const at = (second: number): string => `2026-11-01T10:00:0${second}.000Z`;
  const row = { editor: "shop@1", principal: "p", state: "running", accepted_at: at(0) };
  const rows = [
    { ...row, log_id: "background", tool: "read-logs", started_at: at(3) },
    { ...row, log_id: "elsewhere", tool: "build", editor: "game@1", started_at: at(2) },
    { ...row, log_id: "main", tool: "run-tests", started_at: at(2), progress: { progress: 5 } },
  ];
  const editor = { id: "shop@1", project: "shop", connected: true };
  const whole = {
    tool: "run-tests",
    log_id: "main",
    principal: "p",
    since: at(2),
    progress: { progress: 5 },
  };
  expect(withRunning({ ...editor, running: { since: at(2) } }, rows).running).toEqual(whole);
  expect(withRunning({ ...editor, running: { ...whole, progress: undefined } }, rows).running).toEqual(whole);
  expect(withRunning({ ...editor, running: { since: at(1) } }, rows).running).toEqual({ since: at(1) });
  expect(withRunning(editor, rows)).toBe(editor);
});
