/**
 * What a broker and its private Redis take while nothing is called: processor time, memory, and what Redis appends to its file.
 *
 * `npm run bench-idle [-- <Editors> <seconds>]`, by default 50 and 60
 * Exit code 0: every goal is met; 1: one is missed.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { Redis } from "ioredis";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { ensureEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import { endBrokers, runningBrokers } from "../../harness/processes/brokers.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";
import { createProcesses, until } from "../../harness/processes/processes.js";
import { createDataDirectory } from "../../harness/redis/redis.js";
import { markdownTable } from "../engine/report.js";
import { processorTimes } from "./calls/processor.js";
import { environment } from "./environment.js";
import { createSimulatedEditor } from "./shipped.js";

const [count = 50, seconds = 60] = process.argv.slice(2).map(Number);
/** Until what a start left to be done is done, ms. */
const SETTLED_MS = 40_000;
const DAY_SECONDS = 86_400;

const folder = mkdtempSync(join(tmpdir(), "ujb-idle-"));
const data = createDataDirectory();
const { dataDir } = data;
const { cacheDir } = defaultDirectories(process.env);
const env = environment(folder, dataDir, cacheDir);
const editors = await Promise.all(
  Array.from({ length: count }, (_, at) =>
    createSimulatedEditor({
      projectPath: join(folder, `Project${at}`),
      port: 0,
      endpointFolder: env.UNITY_BROKER_EDITORS_DIR ?? "",
      ledgerFolder: join(folder, `ledger${at}`),
    }),
  ),
);
const processes = createProcesses();
const client = await openStdioClient(processes.start("mcp", ["mcp"], env));
const { address } = await ensureEmbeddedRedis({ dataDir, cacheDir, env, say: console.error });
const redis = new Redis(address);

const told = async (section: string, what: string): Promise<number> =>
  Number(new RegExp(`${what}:(\\d+)`).exec(await redis.info(section))?.[1]);
const memoryMb = (): number => {
  const status = readFileSync(`/proc/${runningBrokers(env)[0]}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
};

await until(
  "all are owned",
  async () => (await redis.keys("{ujb}:lease:*")).length === count,
  SETTLED_MS + count * 1_000,
);
await after(SETTLED_MS);
const [before, bytesBefore, begun] = [
  processorTimes([folder, dataDir]),
  await told("persistence", "aof_current_size"),
  performance.now(),
];
await after(seconds * 1_000);
const passed = (performance.now() - begun) / 1_000;
const times = processorTimes([folder, dataDir]);
const bytes = (await told("persistence", "aof_current_size")) - bytesBefore;
const percentOf = (part: string): number => ((times.get(part) ?? 0) - (before.get(part) ?? 0)) / passed / 10;

const rows = [
  {
    what: "broker and Redis, percent of one core",
    is: percentOf("broker") + percentOf("Redis"),
    goal: count === 1 ? 0.5 : 1,
  },
  { what: "… of that Redis", is: percentOf("Redis"), goal: undefined },
  { what: "appended to Redis' file, MB a day", is: ((bytes / passed) * DAY_SECONDS) / 1e6, goal: 100 },
  { what: "memory of the broker, MB", is: memoryMb(), goal: count === 1 ? 90 : undefined },
];
console.log(`${count} idle Editors, ${Math.round(passed)} s`);
console.log(
  markdownTable(
    ["", "measured", "goal"],
    rows.map(({ what, is, goal }) => [what, is.toFixed(1), goal === undefined ? "" : `≤ ${goal}`]),
  ),
);

await client.close();
await endBrokers(env);
redis.disconnect();
for (const editor of editors) await editor.close();
await processes.close();
await data.remove();
rmSync(folder, { recursive: true, force: true });
process.exit(rows.some(({ is, goal }) => goal !== undefined && is > goal) ? 1 : 0);
