/**
 * What a large document costs: how long each request takes, and how long this process's event loop stood still
 * meanwhile, beside a loop that has nothing to do.
 *
 * `npm run bench-documents -- [--mb 20]`
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as after } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { createDocuments, type Documents } from "../../src/documents/documents.js";

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
const documents: Documents = createDocuments(
  { load: async (key) => (key === "small" ? [Buffer.from('{"a":1}')] : [Buffer.from(zipped)]) },
  { timeoutMs: 60_000 },
);

async function row(name: string, work: () => Promise<unknown>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  const outcome = await work().then(
    () => "",
    (error: Error) => error.message.slice(0, 60),
  );
  const took = performance.now() - begun;
  delay.disable();
  const ms = (ns: number): string => (ns / 1e6).toFixed(1).padStart(6);
  const loop = `loop p99 ${ms(delay.percentile(99))} max ${ms(delay.max)} ms`;
  console.log(`${name.padEnd(34)} ${took.toFixed(0).padStart(6)} ms   ${loop}   ${outcome}`);
}

console.log(`${(text.length / 1e6).toFixed(1)} MB of JSON, ${(zipped.length / 1e6).toFixed(1)} MB zipped`);
await row("nothing, for comparison", () => after(1_000));
await row("first request: starts a thread", () => documents.filter("small", ".a"));
await row("filter: load, unzip, jq", () => documents.filter("scene", ".hierarchy | length"));
await row("the same again: jq only", () => documents.filter("scene", ".hierarchy | length"));
await row("filter: one column", () => documents.filter("scene", "[.hierarchy[].name]"));
await row("filter: all of it comes back", () => documents.filter("scene", "."));
await row("read: parsed for the first time", () => documents.read("scene", { kind: "size" }));
await row("read: parsed before", () => documents.read("scene", { kind: "size" }));
await row("endless filter, ended after 2 s", () =>
  documents.filter("scene", "def f: f; f", { timeoutMs: 2_000 }),
);
await row("the next one: all anew", () => documents.filter("scene", ".sceneName"));
console.log(`memory of this process: ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`);
await row("close", () => documents.close());
