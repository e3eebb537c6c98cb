/**
 * A result of 64 MB on its way from an Editor to a client, over the installed processes: none of them holds more than a
 * few copies of it. The bound: what a process took when idle, and four times the size.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { startWorld, type World } from "./harness/process-world.js";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const MB = 1024 * 1024;
/** Of about 107 bytes each. */
const OBJECTS = 640_000;
const COPIES = 4;

/** `VmRSS`: now; `VmHWM`: the most since it was last reset. */
function memoryOf(pid: number, what: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}

const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");

test.runIf(process.platform === "linux")("64 MB arrive whole, by few copies in each process", async () => {
  world = await startWorld();
  const client = await world.http();
  const small = await client.call("get-hierarchy", { Size: 2_000, timeout: 60 });
  await client.call("fetch_cached_response", {
    cache_id: small.cache_id,
    action: "filter",
    jq_filter: "length",
  });

  const pids = {
    worker: world.worker.process.pid,
    gateway: world.gateway.process.pid,
    redis: Number(/process_id:(\d+)/.exec(await world.hand.info("server"))?.[1]),
  };
  const idle = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, memoryOf(pid, "VmRSS")]));
  for (const pid of Object.values(pids)) resetPeak(pid);

  const called = await client.call("get-hierarchy", { Size: OBJECTS, timeout: 60 });
  const log_id = called.log_id ?? "";
  let told = called;
  while (told.status === "timeout" || told.status === "running")
    told = await client.call("get_operation_result", { log_id, wait: true, timeout: 60 });
  expect(told).toMatchObject({ status: "completed", cached: true, cache_id: log_id });
  const size = Number(told.size_kb) * 1024;
  expect(size).toBeGreaterThan(64 * MB);

  // In pieces, byte by byte.
  const pieces: Buffer[] = [];
  for (let offset = 0; ; ) {
    const read = await client.request("resources/read", {
      uri: `unity-broker://results/${log_id}?offset=${offset}`,
    });
    const [{ blob }] = read.contents as [{ blob: string }];
    const piece = Buffer.from(blob, "base64");
    if (piece.length === 0) break;
    pieces.push(piece);
    offset += piece.length;
  }
  const { nodes } = JSON.parse(Buffer.concat(pieces).toString("utf8")) as { nodes: { name: string }[] };
  expect([nodes.length, nodes.at(-1)?.name]).toEqual([OBJECTS, `Object${OBJECTS - 1}`]);

  // And in parts.
  const last = { cache_id: log_id, page: 10_000, page_size_kb: 1_000 };
  const { _pagination } = await client.call("fetch_cached_response", last);
  const { total_pages: page } = _pagination as { total_pages: number };
  expect(await client.call("fetch_cached_response", { ...last, page })).toMatchObject({
    _pagination: { end_index: OBJECTS },
  });
  const fields = { action: "filter", fields: ["name"], offset: OBJECTS - 1 };
  expect(await client.call("fetch_cached_response", { cache_id: log_id, ...fields })).toMatchObject({
    data: [{ name: `Object${OBJECTS - 1}` }],
  });

  for (const [name, pid] of Object.entries(pids)) {
    const copies = (memoryOf(pid, "VmHWM") - (idle[name] ?? 0)) / size;
    console.log(
      `${name}: idle ${Math.round((idle[name] ?? 0) / MB)} MB, ${copies.toFixed(2)} copies at its peak`,
    );
    expect(copies, `copies of the result in the ${name}`).toBeLessThanOrEqual(COPIES);
  }
});
