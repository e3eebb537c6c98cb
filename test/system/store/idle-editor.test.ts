/** What an Editor costs the store's file while nothing happens in it, and who may say that it is gone. */
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
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

test("an owner that lost the Editor says nothing of it once the next one has heard it", async () => {
  const { hand, store } = await start({ worker: null });
  const { editors } = store;
  const editor = "shop@1";
  const mark = { editorSessionId: "one", generation: 1, assetCounter: 1 };
  const project = { projectName: "shop", projectPath: "/shop", unityVersion: "6000.0.1f1", pid: 1 };
  await editors.introduce({ editorId: editor, ...project, ...mark });
  const live = { phase: "ready", mainThreadStallMs: 0, queued: 0 };
  const sign = { live, ledger: undefined, importedIn: "", isNoted: false };
  const isConnected = async () => (await editors.find(editor))?.connected;

  await hand.set(keys.lease(editor), "before");
  await editors.alive(editor, { ...sign, owner: "before" });
  expect(await isConnected()).toBe(true);
  await hand.set(keys.lease(editor), "now");
  expect(await isConnected()).toBe(false);
  await editors.alive(editor, { ...sign, owner: "now" });
  expect(await isConnected()).toBe(true);
  const last = { ...live, editorSessionId: "one", at: 1 };
  await editors.gone(editor, "before", last);
  await editors.gone(editor, "before");
  expect(await isConnected()).toBe(true);
  await hand.del(keys.lease(editor));
  expect(await isConnected()).toBe(false);
  await editors.gone(editor, "now", last);
  expect(await editors.find(editor)).toMatchObject({ live: undefined, last, connected: false });
});
