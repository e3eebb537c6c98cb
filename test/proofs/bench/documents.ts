/**
 * What a large document costs, as ratios to what nobody can do without, in the same run: a page to parsing the document,
 * a filter to jq alone, this process's event loop to an idle one, its heap after 200 requests to that after 100.
 *
 * `npm run bench-documents -- [--mb 20]`
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as after } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { createDocuments } from "../../../src/documents/documents.js";

const { values } = parseArgs({ options: { mb: { type: "string", default: "20" } } });

/** A scene's hierarchy as an Editor would tell it. */
function scene(bytes: number): string {
  const hierarchy: unknown[] = [];
  for (let size = 0, id = 0; size < bytes; id += 1) {
    const gameObject = {
      instanceId: -1_000 - id,
      name: `Wall ${id}`,
      path: `/Root/Group${id % 50}/Wall ${id}`,
      active: id % 3 !== 0,
      transform: {
        position: { x: id / 2, y: 0, z: -id / 8 },
        rotation: { x: 0, y: 0.6427876, z: 0, w: 0.6427876 },
      },
      componentNames: ["Transform", "MeshRenderer", id % 5 === 0 ? "BoxCollider" : "Rigidbody"],
    };
    hierarchy.push(gameObject);
    size += JSON.stringify(gameObject).length + 1;
  }
  return JSON.stringify({ sceneName: "Bench", hierarchy });
}

const text = scene(Number(values.mb) * 1e6);
const zipped = gzipSync(text);
const documents = createDocuments({ load: async () => [Buffer.from(zipped)] }, { timeoutMs: 60_000 });
const FILTER = "[.hierarchy[].name] | length";

const p50 = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

async function timed(count: number, work: (number: number) => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < count; number += 1) {
    const begun = performance.now();
    await work(number);
    times.push(performance.now() - begun);
  }
  return times;
}

/** p99 of this process's event loop while `work` goes on, ms. */
async function loopDelay(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await work();
  delay.disable();
  return delay.percentile(99) / 1e6;
}

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

/** jq-wasm as its package offers it, in a thread that holds the text: p50 of its filter, ms. */
async function jqAlone(): Promise<number> {
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    import("jq-wasm").then(async ({ loadJq }) => {
      const jq = await loadJq();
      const times = [];
      for (let run = 0; run < 3; run += 1) {
        const begun = performance.now();
        jq.raw(workerData.text, workerData.filter, ["-c"]);
        times.push(performance.now() - begun);
      }
      parentPort.postMessage(times);
    });`;
  const worker = new Worker(program, { eval: true, workerData: { text, filter: FILTER } });
  const times = await new Promise<number[]>((resolve, reject) =>
    worker.once("message", resolve).once("error", reject),
  );
  await worker.terminate();
  return p50(times);
}

function line(name: string, measured: string, ratio: number, goal: number): void {
  const reported = ratio <= goal ? "ok" : "MISSED";
  console.log(
    `${name.padEnd(38)} ${measured.padEnd(40)} ratio ${ratio.toFixed(3)}  goal ${goal}  ${reported}`,
  );
}

const ms = (time: number): string => `${time.toFixed(1)} ms`;
const page = (number: number): Promise<unknown> =>
  documents.read("scene", { kind: "page", page: 1 + (number % 100), pageSizeBytes: 51_200 });

console.log(`${(text.length / 1e6).toFixed(1)} MB of JSON, ${(zipped.length / 1e6).toFixed(1)} MB zipped`);
const [first = 0] = await timed(1, page);
console.log(`first page: loaded, unzipped, its boundaries found: ${ms(first)}`);

const parse = p50(await timed(5, () => JSON.parse(text)));
const warm = p50(await timed(200, page));
line("warm page / JSON.parse", `${ms(warm)} / ${ms(parse)}`, warm / parse, 0.1);

const alone = await jqAlone();
const filters = await timed(4, () => documents.filter("scene", FILTER));
const filter = p50(filters.slice(1));
line("filter / jq-wasm alone", `${ms(filter)} / ${ms(alone)}`, filter / alone, 2);

/** Side by side, five times: what else a machine does comes and goes, and the p99 of an idle process with it. */
const rounds: { idle: number; busy: number }[] = [];
for (let round = 0; round < 5; round += 1) {
  const idle = await loopDelay(() => after(3_000));
  const busy = await loopDelay(async () => {
    await Promise.all([timed(2, () => documents.filter("scene", FILTER)), timed(300, page)]);
    await documents.filter("scene", "def f: f; f", { timeoutMs: 1_000 }).catch(() => undefined);
  });
  rounds.push({ idle, busy });
}
const reported = rounds.map(({ idle, busy }) => `${busy.toFixed(1)}/${idle.toFixed(1)}`).join(" ");
line("event loop p99, busy / idle", `${reported} ms`, p50(rounds.map(({ idle, busy }) => busy / idle)), 3);

await timed(100, page);
const heap100 = heapAfterCollection();
await timed(100, page);
const heap200 = heapAfterCollection();
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
line("heap after call 200 / call 100", `${mb(heap200)} / ${mb(heap100)}`, heap200 / heap100, 1.2);
console.log(`memory of this process: ${mb(process.memoryUsage().rss)}`);
await documents.close();
