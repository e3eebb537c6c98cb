/** Invariant 3: results inside their retention are never removed for room; what has none stays with its Editor. */
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { useGiving } from "../../harness/system/giving.js";
import { eventually } from "../../harness/system/system.js";

const start = useGiving();

/** Text that gzip cannot shorten much. */
const noise = (bytes: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(Math.floor((bytes * 3) / 4)))).toString("base64");

test("over the budget new calls are refused, the outcome waits in the Editor, and arrives when there is room", async () => {
  const scene = await start({ resultsBudgetBytes: 60_000 });
  const { system } = scene;
  const [first, second] = [noise(40_000), noise(45_000)];
  const kept = await scene.give(first);
  expect(kept).toMatchObject({ status: "completed", result: first });

  const waiting = await scene.give(second, { timeout: 1 });
  expect(waiting).toMatchObject({ status: "timeout" });
  const call = await scene.caller();
  const refused = await call("give", { Number: 99 });
  expect(refused).toMatchObject({ status: "error", error_code: "STORE_FULL" });
  expect(refused.message).toContain("Nothing was executed");
  await eventually(async () => {
    const { diagnosis } = await call("get_operation_status", { log_id: waiting.log_id });
    return (diagnosis as { code: string } | undefined)?.code === "STORE_FULL";
  }, "the diagnosis is told");
  // What is stored stays, and answers.
  expect(await call("get_operation_result", { log_id: kept.log_id })).toMatchObject({ result: first });

  // Its retention ends.
  const [entry = ""] = await system.hand.zrange(keys.resultEnds, "0", "-1");
  await system.hand.zadd(keys.resultEnds, 1, entry);
  const arrived = await call("get_operation_result", { log_id: waiting.log_id, wait: true, timeout: 30 });
  expect(arrived).toMatchObject({ status: "completed", result: second });
  expect(scene.runs()).toBe(2);
  expect(await scene.give("small")).toMatchObject({ status: "completed", result: "small" });
});

test("a result that wanted room while Redis' clock was ahead refuses no call once that is set back", async () => {
  const scene = await start({ resultsBudgetBytes: 60_000 });
  const { system } = scene;
  await scene.give("first");
  const { hand } = system;
  const [principal = ""] = await hand.zrange(keys.principals, "0", "-1");
  const mark = (ms: number) => hand.set(keys.roomWanted(principal), 1, "PX", ms);
  await mark(30_000);
  expect(await scene.give("refused")).toMatchObject({ status: "error", error_code: "STORE_FULL" });
  await mark(2 * 3_600_000);
  expect(await scene.give("taken")).toMatchObject({ status: "completed" });
});

test("a result larger than the whole budget has room when nothing else is stored", async () => {
  const scene = await start({ resultsBudgetBytes: 1_000 });
  const large = noise(50_000);
  expect(await scene.give(large)).toMatchObject({ status: "completed", result: large });
});

test("a Redis without memory refuses calls, and keeps what ran in the Editor until it has some", async () => {
  const scene = await start({});
  const { system } = scene;
  const call = await scene.caller();
  const lets = { go: (): void => undefined };
  const running = scene.give(
    new Promise((resolve) => {
      lets.go = () => resolve("done");
    }),
    { timeout: 60 },
  );
  await eventually(() => scene.runs() === 1, "it runs");
  await system.hand.config("SET", "maxmemory", "1");
  lets.go();
  try {
    const refused = await call("give", { Number: 7 });
    expect(refused).toMatchObject({ status: "error", error_code: "STORE_FULL" });
  } finally {
    await system.hand.config("SET", "maxmemory", "0");
  }
  expect(await running).toMatchObject({ status: "completed", result: "done" });
  expect(scene.runs()).toBe(1);
});
