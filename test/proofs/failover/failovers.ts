/**
 * How long an Editor is without an owner after the SIGKILL of the one it had, in real processes: until the next one's
 * first frame, until what ran, what was queued and what is called next has ended, and what was left of the dead one's
 * lease.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { createGateway } from "../../../src/gateway/gateway.js";
import { keys } from "../../../src/shared/store/keys.js";
import { openStore } from "../../../src/shared/store/store.js";
import { createSimulatedEditor } from "../../../src/simulator/editor.js";
import { until } from "../../harness/processes/processes.js";
import { createWorkerProcesses, type WorkerProcess } from "../../harness/processes/worker-processes.js";
import { startTestRedis } from "../../harness/redis/redis.js";
import { SILENT } from "../../harness/silent.js";
import { createBench } from "../../harness/system/bench.js";
import { type Client, clientOf } from "../../harness/system/client.js";
import { expiryOf } from "../../harness/system/expiry.js";

/** An installation's job lock is three of its leases. */
const LOCK_PER_LEASE = 3;
const HELD = { Hold: true };
const QUEUED = 3;

/** All in ms, from the SIGKILL on. */
export interface Failover {
  /** Until the new owner's first frame. */
  frameMs: number;
  /** Until the operation that ran, which ended at that frame, is reported as ended. */
  resultMs: number;
  /** Until those that were queued behind it have ended. */
  queuedMs: number;
  /** Until the call that came right after the kill is answered. */
  nextMs: number;
  /** Left of the killed owner's lease at the first frame; negative: it had expired. */
  leaseLeftMs: number;
}

/** Rejects if an operation was not reported with its own outcome, or began twice. `each` hears of one at a time. */
export async function playFailovers(
  times: number,
  leaseMs: number,
  each: (failover: Failover) => void = () => undefined,
): Promise<Failover[]> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-failover-"));
  const redis = await startTestRedis();
  const hand = new Redis(redis.connection);
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

  const submit = async (name: string, more = {}): Promise<Submitted> => {
    const { record } = await client.submit("work", { Name: name, ...more });
    return { name, logId: record.logId };
  };
  const checked = async (calls: Submitted[], struckAt: number): Promise<number> => {
    for (const call of calls) await checkOutcome(client, call, bench.begun);
    return performance.now() - struckAt;
  };

  const one = async (name: string, owner: WorkerProcess, heir: WorkerProcess): Promise<Failover> => {
    const running = await submit(name, HELD);
    await client.reaches(running.logId, "running");
    const queued: Submitted[] = [];
    for (let at = 1; at <= QUEUED; at += 1) queued.push(await submit(`${name}, queued ${at}`));
    const lease = await expiryOf(hand, keys.lease(editor.editorId));
    const firstFrame = new Promise<Pick<Failover, "frameMs" | "leaseLeftMs">>((resolve, reject) =>
      heir.toEditor.before("Content-Length", () => {
        const frameMs = performance.now() - struckAt;
        bench.finish(name);
        lease.leftMs().then((leaseLeftMs) => resolve({ frameMs, leaseLeftMs }), reject);
      }),
    );
    const struckAt = performance.now();
    await owner.process.kill("SIGKILL");
    const next = submit(`${name}, next`);
    const first = await firstFrame;
    const [resultMs, queuedMs, nextMs] = await Promise.all([
      checked([running], struckAt),
      checked(queued, struckAt),
      next.then((call) => checked([call], struckAt)),
    ]);
    return { ...first, resultMs, queuedMs, nextMs };
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
    hand.disconnect();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
    if (faults.length > 0) console.error(faults.join("\n"));
  }
}

interface Submitted {
  name: string;
  logId: string;
}

const isWork = ({ name }: { name: string }): boolean => name === "work";

/** Waits for its end; rejects unless it completed with its own result, and began once. */
async function checkOutcome(client: Client, { name, logId }: Submitted, begun: string[]): Promise<void> {
  const { result, record } = await client.outcome(logId);
  if (record.state !== "completed" || result !== `{"Done":"${name}"}`) {
    throw new Error(`the result of "${name}" was lost: ${JSON.stringify(record)}`);
  }
  const times = begun.filter((each) => each === name).length;
  if (times !== 1) throw new Error(`"${name}" began ${times} times`);
}
