/** The shortest run of the benchmark: what it counts, because a time says nothing beside other tests. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { CallsReport } from "./report.js";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

/** What an assistant's calls may look like; each row makes some. */
const ROWS = [
  ...["call", "few", "many", "crowd", "clients-4", "clients-16", "spaced", "beside", "after-kill", "first"],
  ...["one", "eight", "one-in-turn", "eight-in-turn", "retained-few", "retained-many"],
];

async function shortestRun(): Promise<CallsReport> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-counts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "run.json");
  const run = promisify(execFile)(process.execPath, ["--import", "tsx", MAIN, "--counts", "--json", file]);
  // A wrong count is its exit code as well: the numbers say more.
  await run.catch(({ code, stderr }) => {
    if (code !== 1) throw new Error(`exit code ${code}: ${stderr}`);
  });
  return JSON.parse(readFileSync(file, "utf8")) as CallsReport;
}

test("each call of the benchmark is executed once, and one to an idle lane takes three scripts and a note", async () => {
  const { counts, scripts } = await shortestRun();
  expect(counts.map(({ row }) => row).toSorted()).toEqual(ROWS.toSorted());
  expect(counts).toEqual(counts.map(({ row, calls }) => ({ row, calls, executions: calls })));
  const { calls, amendments } = scripts;
  expect(scripts).toMatchObject({ writes: 2 * calls, claims: calls });
  // The note of a delivery, after the answer; that of a call before the first one may be among them.
  expect(amendments).toBeLessThanOrEqual(calls + 1);
});
