/** A worker that is replaced on purpose, or has to give way, in the middle of an operation: it goes on, once. */
import { expect, test } from "vitest";
import { WORKER_DEFAULTS } from "../../../src/worker/worker.js";
import { useWorkerProcesses } from "../../harness/processes/use-worker-processes.js";
import type { WorkerProcess } from "../../harness/processes/worker-processes.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const workers = useWorkerProcesses();

const ready = async (env?: Record<string, string>): Promise<{ system: System; owner: WorkerProcess }> => {
  const system = await start({ worker: null });
  const owner = await workers.start(system, env);
  await system.present(system.editor);
  return { system, owner };
};
const runs = async (system: System, name: string): Promise<string> => {
  const ann = system.client();
  const { record } = await ann.submit("work", { Name: name, Hold: true });
  await ann.reaches(record.logId, "running");
  return record.logId;
};
/** The test ends it only now: a process that waited for it before has not ended. */
const endsOnce = async (system: System, logId: string, name: string): Promise<void> => {
  system.bench.finish(name);
  const { record, result } = await system.client().outcome(logId);
  expect({ state: record.state, result }).toEqual({ state: "completed", result: `{"Done":"${name}"}` });
  await eventually(() => system.editor.status().unacknowledged.length === 0, "it is acknowledged");
  expect(system.executions(name)).toBe(1);
};
const endedIn = async ({ process }: WorkerProcess): Promise<number> => {
  const before = performance.now();
  expect(await process.kill("SIGTERM")).toMatchObject({ code: 0 });
  return performance.now() - before;
};

test("SIGTERM while an operation runs: the worker ends within its deadline, the next one carries on", async () => {
  const { system, owner } = await ready();
  const logId = await runs(system, "a");
  const waiting = await system.client().submit("work", { Name: "b" });
  expect(await endedIn(owner)).toBeLessThan(WORKER_DEFAULTS.closeMs);
  expect((await system.record(logId)).state).toBe("running");
  expect(await system.hand.keys("{ujb}:lease:*")).toEqual([]);
  await workers.start(system);
  await endsOnce(system, logId, "a");
  expect((await system.client().outcome(waiting.record.logId)).record.state).toBe("completed");
  expect(system.bench.begun).toEqual(["a", "b"]);
});

test("an end that is asked for while Redis does not answer: it comes, and the next worker carries on", async () => {
  const system = await start({ worker: null });
  const { worker, toRedis } = await system.addCabledWorker(system.editor);
  await system.present(system.editor);
  const logId = await runs(system, "a");
  toRedis.hold();
  await worker.close();
  expect((await system.record(logId)).state).toBe("running");
  await system.addWorker();
  await endsOnce(system, logId, "a");
});

test("two hosts with a file of the same Editor: it leaves the one, the lease goes over to the other", async () => {
  const { system, owner } = await ready();
  const other = await workers.start(system);
  const logId = await runs(system, "a");
  owner.forget();
  await other.says("owns the Editor");
  expect(owner.process.isRunning).toBe(true);
  await endsOnce(system, logId, "a");
});

test("a lease that is taken away: the Editor refuses the zombie, which stops, and the next one carries on", async () => {
  // It would not look at its lease for a minute.
  const { system, owner } = await ready({ UNITY_BROKER_LEASE_MS: "300000" });
  const logId = await runs(system, "a");
  const refused = owner.toEditor.heard('"code":-32011');
  const heir = await workers.start(system);
  await system.hand.del(...(await system.hand.keys("{ujb}:lease:*")));
  await heir.says("owns the Editor");
  await refused;
  await owner.says("lost the Editor's lease");
  await endsOnce(system, logId, "a");
  const next = await system.client().submit("work", { Name: "b" });
  expect((await system.client().outcome(next.record.logId)).record.state).toBe("completed");
  expect(system.bench.begun).toEqual(["a", "b"]);
});
