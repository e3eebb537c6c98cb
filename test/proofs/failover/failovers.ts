/**
 * How long an Editor is without an owner: from the SIGKILL of the one that follows a running operation to the first
 * frame of the next one, in real processes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "../../../src/gateway/gateway.js";
import { openStore } from "../../../src/shared/store/store.js";
import { createSimulatedEditor } from "../../../src/simulator/editor.js";
import { until } from "../../harness/processes/processes.js";
import { createWorkerProcesses, type WorkerProcess } from "../../harness/processes/worker-processes.js";
import { startTestRedis } from "../../harness/redis/redis.js";
import { SILENT } from "../../harness/silent.js";
import { createBench } from "../../harness/system/bench.js";
import { clientOf } from "../../harness/system/client.js";

/** An installation's job lock is three of its leases. */
const LOCK_PER_LEASE = 3;
const HELD = { Hold: true };
export interface Failover {
  /** Until the new owner's first frame, ms. */
  frameMs: number;
  /** Until the operation, which ended at that frame, is reported as ended. */
  resultMs: number;
}

/** Rejects if a running operation was not reported with its own outcome, or began twice. `each` hears of one at a time. */
export async function playFailovers(
  times: number,
  leaseMs: number,
  each: (failover: Failover) => void = () => undefined,
): Promise<Failover[]> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-failover-"));
  const redis = await startTestRedis();
  const bench = createBench();
  const editor = await createSimulatedEditor({ stateFolder: folder, port: 0, tools: bench.tools });
  const store = await openStore(redis.connection, { retentionMs: 3_600_000 });
  const gateway = createGateway({ store, log: SILENT });
  const workers = createWorkerProcesses();
  const env = {
    UNITY_BROKER_LEASE_MS: String(leaseMs),
    UNITY_BROKER_JOB_LOCK_MS: String(LOCK_PER_LEASE * leaseMs),
  };
  const standBy = (): Promise<WorkerProcess> => workers.start({ redis, editor }, env);
  const client = clientOf(gateway.broker, "ann", { id: "session", transport: "http" });

  const one = async (name: string, owner: WorkerProcess, heir: WorkerProcess): Promise<Failover> => {
    const { record } = await client.submit("work", { Name: name, ...HELD });
    await client.reaches(record.logId, "running");
    const firstFrame = new Promise<number>((resolve) =>
      heir.toEditor.before("Content-Length", () => {
        bench.finish(name);
        resolve(performance.now());
      }),
    );
    const struckAt = performance.now();
    await Promise.all([owner.process.kill("SIGKILL"), firstFrame]);
    const { result, record: ended } = await client.outcome(record.logId);
    if (ended.state !== "completed" || result !== `{"Done":"${name}"}`) {
      throw new Error(`the running operation's result was lost: ${JSON.stringify(ended)}`);
    }
    const begun = bench.begun.filter((each) => each === name).length;
    if (begun !== 1) throw new Error(`the running operation began ${begun} times`);
    return { frameMs: (await firstFrame) - struckAt, resultMs: performance.now() - struckAt };
  };

  try {
    const failovers: Failover[] = [];
    let owner = await standBy();
    await until("the Editor is served", async () => (await gateway.broker.tools()).some(isWork), 60_000);
    for (let time = 1; time <= times; time += 1) {
      const heir = await standBy();
      const failover = await one(`work ${time}`, owner, heir);
      failovers.push(failover);
      each(failover);
      owner = heir;
    }
    return failovers;
  } finally {
    const faults = await workers.close();
    await gateway.close();
    await store.close();
    await editor.close();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
    if (faults.length > 0) console.error(faults.join("\n"));
  }
}

const isWork = ({ name }: { name: string }): boolean => name === "work";
