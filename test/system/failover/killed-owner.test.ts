/**
 * The process that owns an Editor is killed, and another one of this machine goes on, in real processes with the timings of
 * an installation: before the dead one's lease and its jobs' locks have expired.
 */
import { describe, expect, test } from "vitest";
import { jobIdOf } from "../../../src/shared/operation/operation.js";
import { keys, queueName } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { useWorkerProcesses } from "../../harness/processes/use-worker-processes.js";
import type { WorkerProcess } from "../../harness/processes/worker-processes.js";
import type { Client } from "../../harness/system/client.js";
import { type Expiry, expiryOf } from "../../harness/system/expiry.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const workers = useWorkerProcesses();

interface Scene {
  system: System;
  ann: Client;
  owner: WorkerProcess;
  /** Of the lease that the owner holds now. */
  lease(): Promise<Expiry>;
  /** Of the lock on the operation's job that the owner holds now. */
  lock(logId: string): Promise<Expiry>;
}

/** An empty value is the default: a lease of 5 s, a lock of 15 s. */
const DEFAULTS = { UNITY_BROKER_LEASE_MS: "", UNITY_BROKER_JOB_LOCK_MS: "" };

async function owned(env: Record<string, string> = DEFAULTS): Promise<Scene> {
  const system = await start({ worker: null });
  const { hand, editor } = system;
  const owner = await workers.start(system, env);
  await system.present(editor);
  return {
    ...{ system, ann: system.client(), owner },
    lease: () => expiryOf(hand, keys.lease(editor.editorId)),
    async lock(logId) {
      const record = await system.record(logId);
      return expiryOf(hand, keys.queue(queueName(record.editor, record.lane), `${jobIdOf(record)}:lock`));
    },
  };
}

const submit = async (ann: Client, Name: string, more = {}): Promise<string> =>
  (await ann.submit("work", { Name, ...more })).record.logId;

async function completes(ann: Client, logIds: string[]): Promise<void> {
  for (const logId of logIds) expect((await ann.outcome(logId)).record.state).toBe("completed");
}

/** How much of the dead owner's lease was left when the heir sent its first frame to the Editor. */
async function leftAtFirstFrame(heir: WorkerProcess, lease: Expiry): Promise<number> {
  await new Promise<void>((resolve) => heir.toEditor.before("Content-Length", resolve));
  return lease.leftMs();
}

describe("another worker stands by, and the owner is killed", () => {
  test("while an operation runs and others wait: it is followed, and they go on in their order", async () => {
    const { system, ann, owner, ...old } = await owned();
    const heir = await workers.start(system, DEFAULTS);
    const running = await submit(ann, "a", { Hold: true });
    await ann.reaches(running, "running");
    const queued = [await submit(ann, "b"), await submit(ann, "c")];
    const [lease, lock] = [await old.lease(), await old.lock(running)];
    const left = leftAtFirstFrame(heir, lease);
    await owner.process.kill("SIGKILL");
    const next = await submit(ann, "d");
    expect(await left, "of the lease").toBeGreaterThan(0);
    system.bench.finish("a");
    await completes(ann, [running, ...queued, next]);
    expect(await lock.leftMs(), "of the lock").toBeGreaterThan(0);
    expect(system.bench.begun).toEqual(["a", "b", "c", "d"]);
  });

  test("while it is idle: the next call is answered", async () => {
    const { system, ann, owner, ...old } = await owned();
    const heir = await workers.start(system, DEFAULTS);
    const lease = await old.lease();
    const left = leftAtFirstFrame(heir, lease);
    await owner.process.kill("SIGKILL");
    await completes(ann, [await submit(ann, "a")]);
    expect(await left, "of the lease").toBeGreaterThan(0);
    expect(system.bench.begun).toEqual(["a"]);
  });

  test("while it had taken a call that it could not send: the call runs, before those behind it", async () => {
    const { system, ann, owner, ...old } = await owned();
    const heir = await workers.start(system, DEFAULTS);
    owner.toEditor.cut();
    await owner.says("connection to the Editor ended");
    const taken = await submit(ann, "a");
    await ann.reaches(taken, "queued");
    const { editor, lane } = await system.record(taken);
    const active = keys.queue(queueName(editor, lane), "active");
    await eventually(async () => (await system.hand.llen(active)) === 1, "the owner has taken its job");
    const behind = await submit(ann, "b");
    const lock = await old.lock(taken);
    const left = leftAtFirstFrame(heir, await old.lease());
    await owner.process.kill("SIGKILL");
    expect(await left, "of the lease").toBeGreaterThan(0);
    await completes(ann, [taken, behind]);
    expect(await lock.leftMs(), "of the lock").toBeGreaterThan(0);
    expect(system.bench.begun).toEqual(["a", "b"]);
  });
});

/** A start takes as long as the machine makes it: of this lease most is left whatever it takes. */
const LONG = { UNITY_BROKER_LEASE_MS: "120000", UNITY_BROKER_JOB_LOCK_MS: "360000" };

test("the owner is killed, and a worker that starts afterwards goes on at once", async () => {
  const { system, ann, owner, ...old } = await owned(LONG);
  const running = await submit(ann, "a", { Hold: true });
  await ann.reaches(running, "running");
  const queued = await submit(ann, "b");
  const [lease, lock] = [await old.lease(), await old.lock(running)];
  await owner.process.kill("SIGKILL");
  const heir = await workers.start(system, LONG);
  await heir.says("owns the Editor");
  system.bench.finish("a");
  await completes(ann, [running, queued]);
  expect(await lease.leftMs(), "of the lease").toBeGreaterThan(0);
  expect(await lock.leftMs(), "of the lock").toBeGreaterThan(0);
  expect(system.bench.begun).toEqual(["a", "b"]);
});

test("an owner that stands still keeps its lease until it expires", async () => {
  const { system, owner, ...old } = await owned({ UNITY_BROKER_LEASE_MS: "1500" });
  const heir = await workers.start(system, { UNITY_BROKER_LEASE_MS: "1500" });
  owner.process.signal("SIGSTOP");
  const lease = await old.lease();
  expect(await leftAtFirstFrame(heir, lease), "of the lease").toBeLessThanOrEqual(0);
});
