import { expect, test } from "vitest";
import { loadWarning, machineLine } from "./report.js";
import { playRounds, type Row } from "./rounds.js";
import { median, quantile } from "./statistics.js";

const machine = {
  cores: 2,
  processor: "A Processor With A Long Name @ 3.0 GHz",
  system: "linux x64",
  node: "v20.20.2",
  redis: "7.0.15",
  load: 0.4,
};

test("a quantile is a value that was measured, the median lies in the middle", () => {
  const values = [5, 1, 4, 2, 3];
  expect([0.5, 0.95, 0.99, 1].map((share) => quantile(values, share))).toEqual([3, 5, 5, 5]);
  expect([median(values), median([1, 2, 3, 10])]).toEqual([3, 2.5]);
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
