/** Owners that die, hang and wake between a claim, a frame and an answer; Editors that forget. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestClient } from "../../../harness/processes/process-clients.js";
import type { World } from "../../../harness/processes/process-world.js";
import { type RunningProcess, until } from "../../../harness/processes/processes.js";
import { forwarded } from "../../../harness/system/cable.js";
import { inTime } from "../../engine/in-time.js";
import { type FrameHolder, holdFrame } from "../frame-holder.js";
import { schedule } from "../schedule.js";
import { copyStore } from "../store-copy.js";
import { COUNTER, many } from "../verdict.js";
import { executionsOf, nothingOpen } from "./calls.js";
import { reported } from "./chains.js";

const ITEM = "Simulator/Block For 0.22 Seconds";
const LONG_ITEM = "Simulator/Block For 0.9 Seconds";

/** Many times what it takes. */
const ADOPTED_MS = 20_000;

const adopted = schedule(
  "the worker dies while its operation runs; the next one adopts it",
  async (stage) => {
    const { worker } = stage.world;
    // It runs until long after the next worker is there.
    const intent = stage.intent(4);
    const client = await stage.http();
    await intent.call(client, 0);
    await intent.begun();
    await worker.kill();
    await worker.start();
    const isAnswered = await inTime(intent.untilTold(client), ADOPTED_MS).then(
      () => true,
      () => false,
    );
    if (isAnswered) return undefined;
    return { judge: "outcome readable", text: "its outcome reaches nobody", isBroken: true };
  },
);

const ledgerGone = schedule(
  "the Editor crashes in the middle, and its ledger is gone when it comes back",
  async ({ world, http }) => {
    const client = await http();
    const { editor } = world;
    await client.call("execute-menu-item", { MenuItemPath: LONG_ITEM, timeout: 0 });
    await until("it begins", async () => (await editor.executions(LONG_ITEM)).length === 1);
    await editor.do({ do: "crash", keepUnflushed: true });
    rmSync(ledgerOf(world));
    await editor.do({ do: "restart" });
    await nothingOpen(world);
    return executionsOf(world, LONG_ITEM, 1);
  },
);

/** Schedule L: the ledger that comes back has the call as accepted, and so as never started. */
const olderLedger = schedule(
  "nobody hears that it began, and the Editor comes back with an older ledger",
  async ({ world, http }) => {
    const { editor, worker } = world;
    await editor.do({ do: "stallMainThread", ms: 60_000 });
    const client = await http();
    await acceptedCall(world, client);
    // Each owner's fence is one more entry, and flushes those before it.
    await nextOwner(world);
    const older = readFileSync(ledgerOf(world));
    await nextOwner(world);
    await worker.kill();
    await editor.do({ do: "stallMainThread", ms: 0 });
    await until("it begins", async () => (await editor.executions(LONG_ITEM)).length === 1);
    await editor.do({ do: "crash", keepUnflushed: true });
    writeFileSync(ledgerOf(world), older);
    await editor.do({ do: "restart" });
    await worker.start();
    await nothingOpen(world);
    return executionsOf(world, LONG_ITEM, 1);
  },
);

/** Resolves when the store has seen of the ledger that it came. */
async function nextOwner({ editor, hand, worker }: World): Promise<void> {
  const seqNow = async (): Promise<number> => Number((await editor.do({ do: "status" })).ledgerSeq);
  const before = await seqNow();
  await worker.kill();
  await worker.start();
  await until("the next owner's fence is in the ledger, and the store has seen it", async () => {
    const seen = await hand.hget(`{ujb}:editor:${editor.editorId}`, "ledger");
    return seen !== null && (JSON.parse(seen) as { ledgerSeq: number }).ledgerSeq > before;
  });
}

/** A call that the Editor has in its ledger, and has not begun. */
async function acceptedCall(world: World, client: TestClient): Promise<unknown> {
  const { log_id } = await client.call("execute-menu-item", { MenuItemPath: LONG_ITEM, timeout: 0 });
  await until("it was sent", async () => {
    const { open } = (await world.editor.do({ do: "status" })) as unknown as { open: unknown[] };
    return open.length === 1;
  });
  await reaches(world, log_id, "dispatched");
  return log_id;
}

async function reaches({ hand }: World, logId: unknown, state: string): Promise<void> {
  await until(`it is ${state}`, async () =>
    (await hand.hget(`{ujb}:operation:${logId}`, "doc"))?.includes(`"state":"${state}"`),
  );
}

const ledgerOf = ({ folder }: World): string => join(folder, "ledger", "ledger.log");

/** An owner whose submit is held on its way; the world's own worker rests. */
async function ownerWithHeldFrame(world: World): Promise<{ owner: RunningProcess; holder: FrameHolder }> {
  const { worker } = world;
  await worker.kill();
  const own = join(world.folder, "by-another-way");
  mkdirSync(own);
  const editors = join(world.folder, "editors");
  const [name = ""] = readdirSync(editors).filter((file) => file.endsWith(".json"));
  const endpoint = JSON.parse(readFileSync(join(editors, name), "utf8")) as { port: number };
  const holder = await holdFrame(endpoint.port);
  writeFileSync(join(own, name), JSON.stringify(forwarded(endpoint, holder)), { mode: 0o600 });
  const env = { ...world.env, UNITY_BROKER_EDITORS_DIR: own, REDIS_URL: worker.line.url };
  const owner = world.processes.start("owner of the held frame", ["worker"], env);
  await owner.line(/^Worker for/);
  return { owner, holder };
}

const lateFrame = schedule(
  "an owner's frame arrives when its lease and its store are gone",
  async ({ world, http }) => {
    const client = await http();
    const before = await copyStore(world.hand);
    const { owner, holder } = await ownerWithHeldFrame(world);
    try {
      await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 0 });
      await holder.held;
      owner.signal("SIGSTOP");
      await before.restore();
      await world.worker.start();
      await reported(await http());
      await begunBy(world, await holder.release());
      await owner.kill();
      return executionsOf(world, ITEM, 1);
    } finally {
      await holder.close();
    }
  },
);

const lateBegin = schedule(
  "unknown to the Editor, reported as unknown, and then its frame arrives",
  async ({ world, http }) => {
    const client = await http();
    const { owner, holder } = await ownerWithHeldFrame(world);
    try {
      const call = client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 20 });
      await holder.held;
      holder.lose();
      const { error_code } = await call;
      const then = (await world.editor.executions(ITEM)).length;
      await begunBy(world, await holder.release());
      const late = (await world.editor.executions(ITEM)).length - then;
      await owner.kill("SIGTERM");
      const text = `${error_code ?? "completed"}, and ${many(late, "execution")} after that`;
      return { judge: COUNTER, text, isBroken: late > 0 };
    } finally {
      await holder.close();
    }
  },
);

/** Where the Editor took a late frame, it begins soon. */
async function begunBy({ editor }: World, answer: string): Promise<void> {
  if (!answer.includes('"state":"accepted"')) return;
  await until("nothing waits in the Editor", async () => {
    const { open } = (await editor.do({ do: "status" })) as unknown as { open: unknown[] };
    return open.length === 0;
  });
}

export const SENDING = [adopted, ledgerGone, olderLedger, lateFrame, lateBegin];
