/** One test of the suite, in the folder of a copy, as a judge. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Verdict } from "./verdict.js";

const LIMIT_MS = 160_000;

interface Report {
  numPassedTests: number;
  numFailedTests: number;
}

/** An error where the test did not come to a verdict of its own. */
export async function runTest(
  folder: string,
  { file, test }: { file: string; test: string },
): Promise<{ verdict: Verdict } | { error: string }> {
  const name = test.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const config = join("test", "proofs", "mutations", "vitest.config.ts");
  const args = ["run", file, "-t", name, "--reporter=json", "--root", folder, "--config", config];
  const child = spawn(process.execPath, [join(folder, "node_modules", "vitest", "vitest.mjs"), ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    // It is one of its own, also where a test starts it.
    env: Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith("VITEST"))),
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const late = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  await once(child, "close");
  clearTimeout(late);
  const line = stdout.split("\n").find((text) => text.startsWith('{"numTotalTestSuites"'));
  const report = line === undefined ? undefined : (JSON.parse(line) as Report);
  if (!report || report.numPassedTests + report.numFailedTests === 0)
    return { error: `no test ran: ${stderr.slice(0, 2000)}` };
  const isBroken = report.numFailedTests > 0;
  return { verdict: { judge: `test in ${file}`, text: isBroken ? "red" : "green", isBroken } };
}
