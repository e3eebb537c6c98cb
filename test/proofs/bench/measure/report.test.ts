import { expect, test } from "vitest";
import { loadWarning, machineLine, reportOf, tables } from "./report.js";
import { playRounds, QUICK, type Row } from "./rounds.js";
import { type Block, median, quantile } from "./statistics.js";

const machine = {
  cores: 2,
  processor: "A Processor With A Long Name @ 3.0 GHz",
  system: "linux x64",
  node: "v20.20.2",
  redis: "7.0.15",
  load: 0.4,
};

const KEYS = ["echo", "ping", "flush", "bare", "bare-many", "verbs", "verbs-many"];
const MCP_KEYS = ["http-no-op", "http-call", "stdio-no-op", "stdio-call"];

/** Every row takes 100 µs in every round, but for those given: one value a round. */
function reportWith(given: Record<string, number[]>) {
  const rows = [...KEYS, ...MCP_KEYS].map((key): Row => ({ key, title: key, inFlight: 1, call: () => 0 }));
  const block = (latency: number): Block => ({ latencies: [latency], perSecond: 1e6 / latency });
  const measured = new Map(rows.map(({ key }) => [key, (given[key] ?? [100, 100, 100]).map(block)]));
  return reportOf(machine, { ...QUICK, rounds: 3 }, rows, measured);
}

test("a quantile is a value that was measured, the median lies in the middle", () => {
  const values = [5, 1, 4, 2, 3];
  expect([0.5, 0.95, 0.99, 1].map((share) => quantile(values, share))).toEqual([3, 5, 5, 5]);
  expect([median(values), median([1, 2, 3, 10])]).toEqual([3, 2.5]);
});

test("the goal compares each round with its own floors: a slow round does not count twice", () => {
  const slow = [100, 900, 100];
  const { goal } = reportWith({ echo: slow, flush: slow, bare: slow, verbs: [300, 2700, 600] });
  expect(goal).toMatchObject({ ratio: 1, met: true });
  expect(reportWith({ verbs: [601, 601, 601] }).goal.met).toBe(false);
});

test("the tables have at most 100 columns, however long it took", () => {
  const long = [1e8, 1e8, 1e8];
  const report = reportWith(Object.fromEntries([...KEYS, ...MCP_KEYS].map((key) => [key, long])));
  for (const line of tables(report).split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

test("a loaded machine is warned about", () => {
  expect(machineLine(machine)).toContain("load 0.4");
  expect(loadWarning(machine)).toBeUndefined();
  expect(loadWarning({ ...machine, load: 2.1 })).toContain("WARNING");
});

test("every row is played in every round, each round beginning with another, and what fails is not measured", async () => {
  const played: string[] = [];
  const row = (key: string): Row => ({ key, title: key, inFlight: 1, call: () => played.push(key) });
  const plan = { rounds: 2, blockMs: 0, mostCalls: 10, leastCalls: 1, warmUpMs: 0 };
  const measured = await playRounds(["a", "b"].map(row), plan, () => undefined);
  expect(played.join("")).toBe("ababba");
  expect([...measured].map(([key, blocks]) => [key, blocks.length])).toEqual([
    ["a", 2],
    ["b", 2],
  ]);
  const failing = { ...row("a"), call: () => Promise.reject(new Error("no result")) };
  await expect(playRounds([failing], plan, () => undefined)).rejects.toThrow("no result");
});
