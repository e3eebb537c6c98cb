/** What an Editor costs the store's file while nothing happens in it, and who may say that it is gone. */
import { expect, test } from "vitest";
import { thisMachine } from "../../../src/shared/machine/this-machine.js";
import { keys } from "../../../src/shared/store/keys.js";
import type { HelloResult } from "../../../src/shared/wire/wire.js";
import { createLostEditors } from "../../../src/worker/discovery/lost-editors.js";
import { createHeartbeatRecorder } from "../../../src/worker/owner/heartbeat.js";
import { eventually } from "../../harness/eventually.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
/** Of the harness: its heartbeat and the renewal of its lease come at this rate. */
const BEATS = 20;

test("heartbeats that say nothing new write nothing; what changes is written with the next one", async () => {
  const { hand, store, editor, client, bench } = await start();
  const calls = async (command: string): Promise<number> => {
    const stats = await hand.info("commandstats");
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  };
  const live = async () => (await store.editors.find(editor.editorId))?.live;
  await eventually(async () => (await live()) !== undefined, "it is known");
  await hand.config("RESETSTAT");
  await eventually(async () => (await calls("pexpire")) >= BEATS, "its lease was renewed often");
  // Its processor's share may change by a step meanwhile.
  expect(await calls("zadd")).toBeLessThan(BEATS / 4);
  expect(await calls("hset")).toBeLessThan(BEATS / 4);

  const { record } = await client().submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  await eventually(async () => (await live())?.runningOperationId === record.logId, "it is seen running");
  bench.finish("a");
  await eventually(async () => (await live())?.runningOperationId === undefined, "it is seen idle");
});

const editor = "shop@1";
const mark = { editorSessionId: "one", generation: 1, assetCounter: 1 };
const profile = {
  editorId: editor,
  ...{ projectName: "shop", projectPath: "/shop", unityVersion: "6000.0.1f1", pid: 1 },
  ...mark,
};
const live = { phase: "ready", mainThreadStallMs: 0, queued: 0 };
const sign = { live, ledger: undefined, importedIn: "", isNoted: false };

const hello: HelloResult = {
  ...profile,
  ...{ protocol: 1, ledgerId: "ledger", ledgerSeq: 1, toolsHash: "none", phase: "ready" },
  ...{ heartbeatSeconds: 1, open: [], unacknowledged: [] },
};

/** Nobody owns an Editor here but whom the test says. */
async function alone() {
  const { hand, store } = await start({ worker: null });
  const isConnected = async () => (await store.editors.find(editor))?.connected;
  return { hand, store, editors: store.editors, isConnected };
}

test("an owner that lost the Editor says nothing of it once the next one has heard it", async () => {
  const { hand, store, editors, isConnected } = await alone();
  await editors.introduce(profile);
  await hand.set(keys.lease(editor), "before");
  await editors.alive(editor, { ...sign, owner: "before" });
  expect(await isConnected()).toBe(true);
  await hand.set(keys.lease(editor), "now");
  expect(await isConnected()).toBe(false);
  await editors.alive(editor, { ...sign, owner: "now" });
  expect(await isConnected()).toBe(true);

  const late = { ...live, phase: "compiling" };
  await editors.alive(editor, { ...sign, live: late, owner: "before" });
  const last = { ...live, editorSessionId: "one", at: 1 };
  const left = { last, importedIn: await store.operations.incarnation() };
  await editors.gone(editor, "before", left);
  await editors.gone(editor, "before");
  expect(await editors.find(editor)).toMatchObject({ live, connected: true });

  await hand.del(keys.lease(editor));
  expect(await isConnected()).toBe(false);
  // A store that lost something since the import may not know what the Editor ran before it left.
  await editors.gone(editor, "now", { last, importedIn: "an earlier one" });
  expect(await editors.find(editor)).toMatchObject({ live, last: undefined, connected: false });
  await hand.set(keys.lease(editor), "now");
  await editors.alive(editor, { ...sign, owner: "now" });
  await hand.del(keys.lease(editor));
  await editors.gone(editor, "now", left);
  expect(await editors.find(editor)).toMatchObject({ live: undefined, last, connected: false });
});

test("an owner whose lease the store has lost says it again once it has it", async () => {
  const { hand, store, isConnected } = await alone();
  const known = { importedIn: () => "" };
  const recorder = createHeartbeatRecorder(
    store,
    { editorId: editor, fence: "owner" },
    () => undefined,
    known,
  );
  await recorder.introduce(hello);
  expect(await isConnected()).toBe(false);
  await hand.set(keys.lease(editor), "owner");
  await recorder.heard({ ...live, editorSessionId: "one", generation: 1, assetCounter: 1, ledgerSeq: 1 });
  expect(await isConnected()).toBe(true);
  recorder.close();
  await hand.del(keys.lease(editor));
});

test.each([
  // What only removes is taken by a full one.
  { setting: "maxmemory", isHeardAtOnce: true },
  { setting: "min-replicas-to-write", isHeardAtOnce: false },
])(
  "that it left is not forgotten because the store refused it once: $setting",
  async ({ setting, isHeardAtOnce }) => {
    const { hand, store, isConnected } = await alone();
    const known = { importedIn: () => "" };
    const recorder = createHeartbeatRecorder(
      store,
      { editorId: editor, fence: "owner" },
      () => undefined,
      known,
    );
    try {
      await hand.set(keys.lease(editor), "owner");
      await recorder.introduce(hello);
      expect(await isConnected()).toBe(true);
      await hand.config("SET", setting, "1");
      await recorder.lost().catch(() => undefined);
      expect(await isConnected()).toBe(!isHeardAtOnce);
    } finally {
      await hand.config("SET", setting, "0");
    }
    await eventually(async () => (await isConnected()) === false, "it is known to have left");
    recorder.close();
    await hand.del(keys.lease(editor));
  },
);

test("one whose process has ended is not connected, though its owner died before it could say so", async () => {
  const { hand, store, editors, isConnected } = await alone();
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  // Another process that had this id before.
  const ended = { machine: thisMachine(), pid: process.pid, mark: "of an earlier one" };
  await editors.introduce({ ...profile, process: ended });
  await hand.set(keys.lease(editor), "owner");
  await editors.alive(editor, { ...sign, owner: "owner" });
  expect(await isConnected()).toBe(true);
  const lost = createLostEditors({ store, log }, { lostEditorsMs: 20 });
  try {
    await eventually(async () => (await isConnected()) === false, "nobody hears it any more");
  } finally {
    await lost.close();
    await hand.del(keys.lease(editor));
  }
  expect((await editors.find(editor))?.ended?.editorSessionId).toBe("one");
});
