/** An Editor is input: whatever it says, nothing crashes or grows, its calls end as documented, and others are served. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { openStore } from "../../../src/shared/store/store.js";
import { createWorker, WORKER_DEFAULTS } from "../../../src/worker/worker.js";
import { type HostileEditor, startHostileEditor } from "../../harness/editor/hostile-editor.js";
import { isLongForm, played } from "../../harness/long-form.js";
import { SILENT } from "../../harness/silent.js";
import {
  eventually,
  ORIGIN_KEY,
  type System,
  type SystemOptions,
  useSystem,
} from "../../harness/system/system.js";
import { LIES, type Lie, others } from "../../hostile/lies.js";
import { NOISE } from "../../hostile/noise.js";
import { PLAIN_LIES } from "../../hostile/plain-lies.js";

const { start, redis } = useSystem();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};
const MOST_GROWTH = 150 * 1024 * 1024;
/** Collecting takes long where it would not change the answer. */
const growth = (before: number): number => {
  const grown = process.memoryUsage().heapUsed - before;
  return grown < MOST_GROWTH ? grown : heap() - before;
};
const HOUR = 3_600_000;

/** Finds it as it finds honest ones, or by its name where it has no ledger. */
async function beside(system: System, lie: Lie): Promise<HostileEditor> {
  const liar = await startHostileEditor(lie);
  closers.push(() => liar.close());
  if (!lie.plain) {
    const folder = dirname(system.sentFolder);
    writeFileSync(join(folder, "liar.json"), JSON.stringify(liar.endpoint()), { mode: 0o600 });
    return liar;
  }
  const folder = mkdtempSync(join(tmpdir(), "ujb-liar-"));
  const store = await openStore(redis().connection, { retentionMs: HOUR });
  const worker = createWorker(
    {
      ...{ store, log: SILENT, editorsFolder: folder, version: "0.0.0", originKey: ORIGIN_KEY },
      named: [{ name: "liar", host: "127.0.0.1", port: liar.port }],
    },
    { ...WORKER_DEFAULTS, closeMs: 300, retryMs: 20, link: { backoff: { stepMs: 10, maxMs: 30 } } },
  );
  closers.push(async () => {
    await worker.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return liar;
}

/** What is never answered, or never listed, is waited for. */
const IMPATIENT: SystemOptions = {
  worker: {
    link: {
      ...{ backoff: { stepMs: 10, maxMs: 30 }, heartbeatTimeoutMs: 2_000, refusedRetryMs: 50 },
      connection: { requestTimeoutMs: 2_000 },
    },
  },
  gateway: { firstContactMs: 200 },
};

async function tell(lie: Lie): Promise<void> {
  const system = await start(IMPATIENT);
  const { store, bench, broker, warnings, client } = system;
  const [ann, bob] = [client("ann"), client("bob")];
  const honest = system.editor.editorId;
  const held = await bob.submit("work", { Name: "held", Hold: true, editor: honest });
  await bob.reaches(held.record.logId, "running");
  others.logId = held.record.logId;
  others.storeId = store.storeId();
  const before = heap();

  const liar = await beside(system, lie);
  const liarId = async (): Promise<string | undefined> =>
    (await broker.editors()).editors
      .map(({ profile }) => profile.editorId)
      .find((editorId) => editorId !== honest);
  const call = async () => {
    const editor = (await liarId()) ?? "liar";
    return ann.submit("work", { Name: "lie", Hold: true, editor }).then(
      ({ record }) => record,
      (error: { code?: string }) => error.code,
    );
  };
  const stateOf = async (made: Awaited<ReturnType<typeof call>>): Promise<string> => {
    if (typeof made !== "object") return "unknown";
    return (await store.operations.find(made.logId))?.state ?? "unknown";
  };
  let made = await call();
  // It may just be introduced; one that never is, stays refused while others are served.
  await eventually(
    async () => {
      if (typeof made !== "object") made = await call();
      // Known, refused and asked again, or heard more of than was asked for.
      const wasHeard =
        liar.calls("bridge/hello") > 1 ||
        (await liarId()) !== undefined ||
        warnings.some((line) => line.includes("read more slowly"));
      return wasHeard && lie.ends.includes((await stateOf(made)) as never);
    },
    `a call ends as ${lie.ends.join(" or ")}`,
    // A flooded worker comes to it late.
    90_000,
  ).catch(async (error: Error) => {
    const record = typeof made === "object" ? await store.operations.find(made.logId) : made;
    throw new Error(`${error.message}; it is ${JSON.stringify(record)}`);
  });

  for (const name of ["a", "b", "c"]) {
    const { record } = await bob.submit("ping", { Message: name, editor: honest });
    expect((await bob.outcome(record.logId)).record.state).toBe("completed");
  }
  const view = await bob.until(held.record.logId, ({ record }) => record.state === "running");
  expect([view.progress, view.partialResult]).toEqual([undefined, undefined]);
  bench.finish("held");
  expect(answerOf(await bob.outcome(held.record.logId))).toMatchObject({
    status: "completed",
    result: { Done: "held" },
  });
  expect(lie.ends).toContain(await stateOf(made));
  const known = await liarId();
  const profile = known === undefined ? undefined : (await store.editors.find(known))?.profile;
  expect(profile?.plain === true).toBe(profile !== undefined && lie.plain === true);
  expect(await store.operations.listOf("bob", 10)).toHaveLength(4);
  expect((await store.operations.listOf("ann", 10)).length).toBeLessThan(2);
  expect(await store.operations.listOf("local", 10)).toEqual([]);
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  expect(growth(before)).toBeLessThan(MOST_GROWTH);
  expect(warnings.length).toBeLessThan(2_000);
}

test("there are more than 30 lies, over both wires", () => {
  const counts = [LIES, NOISE, PLAIN_LIES].map((lies) => Object.keys(lies).length);
  expect(Math.min(...counts)).toBeGreaterThan(10);
  expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(75);
});

/** One of each kind; the long form tells them all. */
const TELLING = {
  lies: [
    "hello that names another's operation",
    "a proof of nothing",
    "a tool that nests 100 000 deep",
    "the same as another's operation",
    "no answer, and the connection ends",
    "two ends",
    "a result in parts that are not JSON",
  ],
  noise: [
    "the end of another's operation",
    "progress without end",
    "half a frame",
    "a ledger that turns in a circle",
  ],
  plain: ["a refusal that it never began, after it did", "two answers"],
};

describe("over our protocol", () => {
  test.each(played(LIES, TELLING.lies))("%s", (_name, lie) => tell(lie));
});

describe("unasked", () => {
  test.each(played(NOISE, TELLING.noise))("%s", (_name, lie) => tell(lie));
});

describe("over the plain uLoop wire", () => {
  test.each(played(PLAIN_LIES, TELLING.plain))("%s", (_name, lie) => tell(lie));
});

/**
 * One after the other. The long form makes enough for a p99, and compares: how long a call takes says nothing while other tests
 * use the cores. The short form sees that each is served, once, while the flood goes on.
 */
const CALLS = isLongForm ? 1000 : 100;
const QUANTILE = 0.99;

test("others are served as fast as without it, or nearly so", { timeout: 120_000 }, async () => {
  const system = await start();
  const bob = system.client("bob");
  const editor = system.editor.editorId;
  const quantile = async (name: string): Promise<number> => {
    const took: number[] = [];
    for (let at = 0; at < CALLS; at += 1) {
      const since = performance.now();
      const { record } = await bob.submit("ping", { Message: `${name} ${at}`, editor });
      expect((await bob.outcome(record.logId)).record.state).toBe("completed");
      took.push(performance.now() - since);
    }
    return took.sort((a, b) => a - b)[Math.floor(CALLS * QUANTILE)] ?? 0;
  };
  await quantile("warm");
  const alone = await quantile("alone");

  const program = fileURLToPath(new URL("../../hostile/liar-process.ts", import.meta.url));
  const liar = spawn(process.execPath, ["--import", "tsx", program], { stdio: ["pipe", "pipe", "inherit"] });
  closers.push(() => {
    liar.stdin.end();
    return once(liar, "exit");
  });
  const [endpoint] = (await once(createInterface(liar.stdout), "line")) as [string];
  writeFileSync(join(dirname(system.sentFolder), "liar.json"), endpoint, { mode: 0o600 });
  await eventually(
    () => system.warnings.some((line) => line.includes("read more slowly")),
    "the worker reads it more slowly",
  );
  const beside = await quantile("beside");
  const ratio = beside / alone;
  console.log(
    `p${100 * QUANTILE} of others: ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside a hostile Editor: ratio ${ratio.toFixed(2)}`,
  );
  expect(liar.exitCode).toBeNull();
  if (isLongForm) expect(ratio).toBeLessThan(10);
});
