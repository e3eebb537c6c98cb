/**
 * How long the command line takes to begin, as a multiple of `node -e 0` in the same run: its help, and a call until it
 * talks to whom it asks.
 *
 * `npm run bench-start`
 * Exit code 0: every goal is met; 1: one is missed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment } from "../../harness/processes/installation.js";
import { MAIN } from "../../harness/processes/processes.js";
import { markdownTable } from "../engine/report.js";
import { median } from "./measure/statistics.js";

const ROUNDS = 15;

const folder = mkdtempSync(join(tmpdir(), "ujb-start-"));
// Somebody to talk to, who never answers.
const peer = createServer();
await once(peer.listen(0, "127.0.0.1"), "listening");
const { port } = peer.address() as AddressInfo;

const start = (args: readonly string[], more: Record<string, string> = {}): ChildProcess =>
  spawn(process.execPath, args, {
    env: environment(folder, { UNITY_BROKER_DATA_DIR: join(folder, "data"), ...more }),
    stdio: "ignore",
  });

async function toItsEnd(args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  await once(start(args), "close");
  return performance.now() - startedAt;
}

async function toItsFirstWord(args: readonly string[], more: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  const child = start(args, more);
  const [socket] = await once(peer, "connection");
  const took = performance.now() - startedAt;
  child.kill("SIGKILL");
  await once(child, "close");
  socket.destroy();
  return took;
}

const CALL = [MAIN, "call", "x"];
const ROWS = [
  { what: "`--help`", goal: 2.5, measure: () => toItsEnd([MAIN, "--help"]) },
  { what: "`call --help`", goal: 2.5, measure: () => toItsEnd([MAIN, "call", "--help"]) },
  {
    what: "`call`, until it asks a gateway elsewhere",
    goal: 6,
    measure: () => toItsFirstWord(CALL, { UNITY_BROKER_URL: `http://127.0.0.1:${port}/mcp` }),
  },
  {
    what: "`call`, until it asks its Redis",
    goal: 6,
    measure: () => toItsFirstWord(CALL, { REDIS_URL: `redis://127.0.0.1:${port}` }),
  },
];

const floors: number[] = [];
const times = ROWS.map((): number[] => []);
const ratios = ROWS.map((): number[] => []);
for (let round = 0; round < ROUNDS; round += 1) {
  const floor = await toItsEnd(["-e", "0"]);
  floors.push(floor);
  for (const [at, { measure }] of ROWS.entries()) {
    const took = await measure();
    times[at]?.push(took);
    ratios[at]?.push(took / floor);
  }
}
peer.close();
rmSync(folder, { recursive: true, force: true });

const found = ROWS.map(({ what, goal }, at) => ({
  ...{ what, goal },
  ms: median(times[at] ?? []),
  ratio: median(ratios[at] ?? []),
}));
console.log(
  markdownTable(
    ["what", "ms", `× \`node -e 0\` (${median(floors).toFixed(0)} ms)`, "goal", ""],
    found.map(({ what, ms, ratio, goal }) => [
      ...[what, ms.toFixed(0), ratio.toFixed(2), `≤ ${goal}`],
      ratio <= goal ? "met" : "MISSED",
    ]),
  ),
);
process.exit(found.every(({ ratio, goal }) => ratio <= goal) ? 0 : 1);
