/**
 * A result of 64 MB on its way from an Editor to a client, over the installed processes: none of them holds more than a
 * few copies of it. The bound: what a process took when idle, and four times the size.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { isLongForm } from "../../harness/long-form.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const MB = 1024 * 1024;
const COPIES = 4;

const SCENES = [
  {
    // Of about 240 bytes each, most of them noise.
    editor: "the simulator, of bytes that do not compress",
    engine: "typescript",
    objects: 285_000,
    small: { SimulatedSize: 2_000 },
    large: { SimulatedSize: 285_000, SimulatedNoiseBytes: 84 },
  },
  {
    // Of about 140 bytes each.
    editor: "the C# bridge",
    engine: "dotnet",
    objects: 490_000,
    small: { IncludePaths: false },
    large: {},
  },
] as const;

/** `VmRSS`: now; `VmHWM`: the most since it was last reset. */
function memoryOf(pid: number, what: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}

const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** The process that plays the Editor: the C# bridge's is a child of the one that was started. */
function editorOf({ editor }: World): number {
  const { pid } = editor.process;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim() || pid);
}

const canRun = (engine: string): boolean =>
  process.platform === "linux" && (engine !== "dotnet" || hasDotnet);

/** The bridge that users have; the long form plays the simulator too. */
const PLAYED = isLongForm || !hasDotnet ? SCENES : SCENES.slice(-1);

test.for(PLAYED.filter(({ engine }) => canRun(engine)))(
  "64 MB of $editor arrive whole, by few copies in each process",
  async (scene, { expect }) => {
    world = await startWorld({ engine: scene.engine });
    const { objects } = scene;
    const sceneOf = async (sceneObjects: number): Promise<unknown> =>
      scene.engine === "dotnet" && world?.editor.do({ do: "script", sceneObjects });
    const client = await world.http();
    await sceneOf(2_000);
    const small = await client.call("get-hierarchy", { ...scene.small, timeout: 60 });
    await client.call("fetch_cached_response", {
      cache_id: small.cache_id,
      action: "filter",
      jq_filter: "length",
    });
    await sceneOf(objects);

    const pids = {
      editor: editorOf(world),
      worker: world.worker.process.pid,
      gateway: world.gateway.process.pid,
      redis: Number(/process_id:(\d+)/.exec(await world.hand.info("server"))?.[1]),
    };
    const idle = Object.fromEntries(
      Object.entries(pids).map(([name, pid]) => [name, memoryOf(pid, "VmRSS")]),
    );
    for (const pid of Object.values(pids)) resetPeak(pid);

    const called = await client.call("get-hierarchy", { ...scene.large, timeout: 60 });
    const log_id = called.log_id ?? "";
    let reported = called;
    while (reported.status === "timeout" || reported.status === "running")
      reported = await client.call("get_operation_result", { log_id, wait: true, timeout: 60 });
    expect(reported).toMatchObject({ status: "completed", cached: true, cache_id: log_id });
    const size = Number(reported.size_kb) * 1024;
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
    const last = `Object${objects - 1}`;
    expect([nodes.length, nodes.at(-1)?.name]).toEqual([objects, last]);

    // And in parts.
    const beyond = { cache_id: log_id, page: 10_000, page_size_kb: 1_000 };
    const { _pagination } = await client.call("fetch_cached_response", beyond);
    const { total_pages: page } = _pagination as { total_pages: number };
    expect(await client.call("fetch_cached_response", { ...beyond, page })).toMatchObject({
      _pagination: { end_index: nodes.length },
    });
    const fields = { action: "filter", fields: ["name"], offset: nodes.length - 1 };
    expect(await client.call("fetch_cached_response", { cache_id: log_id, ...fields })).toMatchObject({
      data: [{ name: last }],
    });

    for (const [name, pid] of Object.entries(pids)) {
      const copies = (memoryOf(pid, "VmHWM") - (idle[name] ?? 0)) / size;
      console.log(
        `${name}: idle ${Math.round((idle[name] ?? 0) / MB)} MB, ${copies.toFixed(2)} copies at its peak`,
      );
      expect(copies, `copies of the result in the ${name}`).toBeLessThanOrEqual(COPIES);
    }
  },
);
