/** A worker process dies, stops or hangs; another one stands by. What becomes of the call, and of the one that wakes. */
import { describe, expect, test } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { useWorkerProcesses } from "../../harness/processes/use-worker-processes.js";
import type { WorkerProcess } from "../../harness/processes/worker-processes.js";
import type { Client } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const workers = useWorkerProcesses();

/** How the owner is struck; answers how it wakes up again, where it does. */
const STRIKES = {
  async dies({ process }: WorkerProcess) {
    await process.kill("SIGKILL");
    return undefined;
  },
  async stops({ process }: WorkerProcess) {
    process.signal("SIGSTOP");
    return () => process.signal("SIGCONT");
  },
  async hangs(worker: WorkerProcess) {
    await worker.block();
    return worker.unblock;
  },
};
type Strike = keyof typeof STRIKES;

interface Scene {
  system: System;
  ann: Client;
  owner: WorkerProcess;
}

/** An owner, one that stands by, and the call `a` where `bring` brings it; then the strike and what must follow. */
async function strikeAt(strike: Strike, bring: (scene: Scene) => Promise<string>): Promise<void> {
  const system = await start({ worker: null });
  const { editor, bench } = system;
  const owner = await workers.start(system);
  await system.present(editor);
  const heir = await workers.start(system);
  const ann = system.client();
  const logId = await bring({ system, ann, owner });
  const wake = await STRIKES[strike](owner);

  await heir.says("owns the Editor");
  for (const name of ["first", "a"]) if (bench.begun.includes(name)) bench.finish(name);
  await bench.begins("a");
  bench.finish("a");
  const view = await ann.outcome(logId);
  expect(view).toMatchObject({ record: { state: "completed" }, result: '{"Done":"a"}' });
  await eventually(() => editor.status().unacknowledged.length === 0, "it is acknowledged");

  if (wake) {
    owner.toEditor.fix();
    wake();
    await owner.says("lost the Editor's lease");
  }
  await ann.outcome((await ann.submit("work", { Name: "b" })).record.logId);
  expect((await system.record(logId)).endedAt).toBe(view.record.endedAt);
  expect(bench.begun.filter((name) => name !== "first")).toEqual(["a", "b"]);
}

/** Behind a call that runs. */
const queued = async ({ ann }: Scene): Promise<string> => {
  const first = await ann.submit("work", { Name: "first", Hold: true });
  await ann.reaches(first.record.logId, "running");
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "queued");
  return record.logId;
};
/** The Editor has it, its answer is on the way. */
const sent = async ({ ann, owner, system }: Scene): Promise<string> => {
  owner.toEditor.before("operation/submit", owner.toEditor.deafen);
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await system.bench.begins("a");
  expect((await system.record(record.logId)).state).toBe("dispatched");
  return record.logId;
};
const running = async ({ ann }: Scene): Promise<string> => {
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  return record.logId;
};
/** The Editor has its outcome, the store has not. */
const finished = async (scene: Scene): Promise<string> => {
  const logId = await running(scene);
  scene.owner.toEditor.deafen();
  scene.system.bench.finish("a");
  await eventually(() => scene.system.editor.status().unacknowledged.length === 1, "it ended");
  expect((await scene.system.record(logId)).state).toBe("running");
  return logId;
};

describe("SIGKILL", () => {
  test("worker dies or hangs · queued: the next owner runs it once", () => strikeAt("dies", queued));
  test("worker dies or hangs · sent: the next owner submits the same id and attaches", () =>
    strikeAt("dies", sent));
  test("worker dies or hangs · running: the next owner attaches", () => strikeAt("dies", running));
  test("worker dies or hangs · finished: the next owner collects it from the ledger", () =>
    strikeAt("dies", finished));
});

describe("SIGSTOP, and SIGCONT when all is over", () => {
  test("worker stops · sent: as after its death, and the one that wakes gives way", () =>
    strikeAt("stops", sent));
  test("worker stops · running: as after its death, and the one that wakes gives way", () =>
    strikeAt("stops", running));
});

describe("a blocked event loop, and free again when all is over", () => {
  test("worker hangs · queued: as after its death, and the one that wakes gives way", () =>
    strikeAt("hangs", queued));
  test("worker hangs · running: as after its death, and the one that wakes gives way", () =>
    strikeAt("hangs", running));
  test("worker hangs · finished: as after its death, and the one that wakes gives way", () =>
    strikeAt("hangs", finished));
});
