/** What one call runs through: its budget of files, which is lowered with each one that goes. */
import { readdirSync, readFileSync, utimesSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const callers = useMcpCallers();

const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));
const OURS = /src\/(?:gateway|worker|shared)\/.*\.ts/;
const { call: budget } = JSON.parse(readFileSync(`${PROJECT}test/budgets.json`, "utf8")) as {
  call: { files: number };
};

/** What ARCHITECTURE.md says that a call passes. */
const listed = new Set(
  [...readFileSync(`${PROJECT}ARCHITECTURE.md`, "utf8").matchAll(/^\* (src\/[\w/-]+): (.+)$/gm)].flatMap(
    ([, folder, names = ""]) => names.split(" ").map((name) => `${folder}/${name}`),
  ),
);

const HOUR = 3_600_000;

/** As if all in this folder had been written an hour ago: what changed just now is read again by each call. */
function age(folder: string): void {
  const then = (Date.now() - HOUR) / 1_000;
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
  for (const path of [folder, ...paths]) utimesSync(path, then, then);
}

/** The files of which anything ran while `act` did. */
async function filesOf(act: () => Promise<unknown>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  /** Whether it does anything: the test runner's own getter of what a module exports does not. */
  const isOurs = (text: string): boolean => !/^\(\) => \{ try \{ return \w+ \} catch \{\} \}$/.test(text);
  try {
    await session.post("Debugger.enable");
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await session.post("Profiler.takePreciseCoverage");
    await act();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const passed = new Set<string>();
    for (const { url, scriptId, functions } of result) {
      const [path] = OURS.exec(url) ?? [];
      const ran = functions.flatMap(({ ranges: [all] }) => (all && all.count > 0 ? [all] : []));
      if (path === undefined || ran.length === 0) continue;
      const { scriptSource } = await session.post("Debugger.getScriptSource", { scriptId });
      if (ran.some(({ startOffset, endOffset }) => isOurs(scriptSource.slice(startOffset, endOffset))))
        passed.add(path);
    }
    return passed;
  } finally {
    session.disconnect();
  }
}

test("one call over stdio passes no more files than its budget", async () => {
  // What runs beside the calls, ten times a second in other tests, is on nobody's way.
  const { gateway, knownEditorsFile } = await start({
    worker: {
      discoveryPollMs: HOUR,
      lostEditorsMs: HOUR,
      healthCheckMs: HOUR,
      lease: { ttlMs: HOUR, renewMs: HOUR / 3 },
      link: { backoff: { stepMs: 10, maxMs: 30 }, heartbeatTimeoutMs: HOUR, refusedRetryMs: 50 },
    },
    editor: { heartbeatMs: HOUR / 3 },
  });
  const caller = await callers.stdio(gateway);
  await caller.call("work", { Name: "warm" });
  await caller.settle();
  age(dirname(knownEditorsFile));
  const calls: Set<string>[] = [];
  // What runs beside a call, such as a heartbeat, is not in all of them, but for two or three on a busy machine.
  for (let at = 0; at < 8; at += 1)
    calls.push(
      await filesOf(async () => {
        await caller.call("work", { Name: `call ${at}` });
        await caller.settle();
      }),
    );
  const [first = new Set<string>()] = calls;
  const passed = [...first].filter((path) => calls.every((call) => call.has(path))).sort();
  console.log(`${passed.length} files\n${passed.join("\n")}`);
  expect(passed.length).toBeLessThanOrEqual(budget.files);
  expect(passed.filter((path) => !listed.has(path))).toEqual([]);
});
