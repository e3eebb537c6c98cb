/** Every schedule, every cell of the recovery table and every rule has its tests, and docs/proofs/coverage.md names them. */
import { expect, test } from "vitest";
import { cells, document, missing, rules, schedules } from "./coverage/coverage.js";

test("docs/proofs/coverage.md is what the master says", async () => {
  await expect(document()).toMatchFileSnapshot("../../docs/proofs/coverage.md");
});

test("every test that is named is there, and one that is nowhere is missed", () => {
  expect(missing([...schedules, ...cells, ...rules])).toEqual([]);
  const [first = { what: "", tests: [] }] = cells;
  const nowhere = first.tests.map((one) => ({ ...one, title: "client or gateway dies" }));
  expect(missing([{ what: "a part of a title", tests: nowhere }])).toHaveLength(1);
  expect(missing([{ what: "nothing", tests: [] }])).toHaveLength(1);
});

test("every schedule from A to V is there, and every cell of every row", () => {
  const letters = Array.from({ length: 22 }, (_none, at) => String.fromCharCode("A".charCodeAt(0) + at));
  expect(schedules.map(({ what }) => what.slice(0, what.indexOf(":")))).toEqual(letters);
  const columns = ["queued", "sent", "running", "finished"];
  const events = new Set(cells.map(({ what }) => what.slice(0, what.lastIndexOf(" · "))));
  expect(events.size).toBe(9);
  expect(cells.map(({ what }) => what)).toEqual(
    [...events].flatMap((event) => columns.map((column) => `${event} · ${column}`)),
  );
});

test("no test of a cell is named twice", () => {
  const names = cells.flatMap(({ tests }) => tests.map(({ file, title }) => `${file}: ${title}`));
  expect(new Set(names).size).toBe(names.length);
});
