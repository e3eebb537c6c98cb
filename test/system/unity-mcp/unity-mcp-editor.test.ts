/** An Editor with MCP for Unity: whatever becomes of a call, it is sent once, and nothing is guessed. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { editorIdOf } from "../../../src/shared/editors/target.js";
import type { WorkerOptions } from "../../../src/worker/worker.js";
import {
  startUnityMcpPeer,
  type UnityMcpPeer,
  type UnityMcpPeerOptions,
} from "../../harness/editor/unity-mcp-peer.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { environment } from "../../harness/processes/installation.js";
import { createProcesses } from "../../harness/processes/processes.js";
import { layCable } from "../../harness/system/cable.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { stdio } = useMcpCallers();
let folder: string;
const peers: UnityMcpPeer[] = [];
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ujb-unity-mcp-")));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  for (const peer of peers.splice(0)) await peer.close();
  rmSync(folder, { recursive: true });
});

async function open(given: Partial<UnityMcpPeerOptions> = {}): Promise<UnityMcpPeer> {
  const peer = await startUnityMcpPeer({ folder, projectPath: join(folder, "Shop"), ...given });
  peers.push(peer);
  return peer;
}

const idOf = ({ projectPath }: UnityMcpPeer): string =>
  editorIdOf(basename(projectPath), hostname(), projectPath);

const QUICK = { busyPauseMs: 5 };

/** A worker that serves this Editor, and a client of it. */
async function serve(peer: UnityMcpPeer, given: Partial<WorkerOptions> = {}) {
  const system = await start({
    unityMcpFolder: folder,
    worker: { bridges: { unityMcp: QUICK }, ...given },
  });
  const editor = idOf(peer);
  await system.present({ editorId: editor });

  const ann = system.client();
  const submit = (tool: string, args: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
    ann.submit(tool, args, { editor, ...more });
  const outcome = async (tool: string, args: Record<string, unknown>) =>
    ann.outcome((await submit(tool, args)).record.logId);
  return { ...system, ann, submit, outcome, editorId: editor };
}

const PLAY = { action: "play" };
const UNKNOWN = { state: "interrupted", error: { code: "OUTCOME_UNKNOWN" } };

describe("an Editor with MCP for Unity through the broker", () => {
  test("is found by its status file, and listed with its bridge; an MCP client's calls run, and end as far as is known", async () => {
    const peer = await open();
    const { gateway, editor, editorId, store } = await serve(peer);
    expect((await store.editors.find(editorId))?.profile).toMatchObject({
      plain: true,
      bridge: "unity-mcp",
      projectName: "Shop",
      projectPath: peer.projectPath,
      unityVersion: "6000.0.1f1",
    });
    const client = await stdio(gateway);
    const { editors } = (await client.call("list_editors")) as unknown as {
      editors: { id: string; bridge?: string }[];
    };
    const bridges = Object.fromEntries(editors.map(({ id, bridge }) => [id, bridge]));
    expect(bridges[editorId]).toMatch(/^unity-mcp \(no ledger/);
    expect(bridges[editor.editorId]).toBeUndefined();

    const on = { editor: editorId, timeout: 30 };
    expect(await client.call("manage_editor", { ...PLAY, ...on })).toMatchObject({
      ...{ status: "completed", result: { success: true, data: PLAY } },
    });
    const next = peer.next();
    const lost = client.call("execute_menu_item", { menuPath: "File/Build", ...on });
    const begun = await next;
    begun.timeOut();
    // It still runs in Unity.
    peer.free();
    const behind = client.call("manage_scene", { action: "save", ...on });
    await eventually(() => peer.busyPings() > 2, "Unity is asked whether it is free");
    const states = async (): Promise<string> => {
      const { operations } = await client.call("list_operations");
      return (operations as { state: string }[]).map(({ state }) => state).join(" ");
    };
    await eventually(
      async () => (await states()) === "queued running completed",
      "the second one is known to run",
    );
    expect(peer.begun).toEqual(["manage_editor", "execute_menu_item"]);
    begun.end();
    expect(await lost).toMatchObject({ error_code: "OUTCOME_UNKNOWN" });
    expect(await behind).toMatchObject({ status: "completed" });
    expect(peer.begun).toEqual(["manage_editor", "execute_menu_item", "manage_scene"]);
  });

  test("a call that its bridge no longer waits for is unknown as soon as the connection is lost, and not sent again", async () => {
    const peer = await open();
    const { ann, submit } = await serve(peer);
    const next = peer.next();
    const { record } = await submit("execute_menu_item", { menuPath: "File/Build" });
    (await next).timeOut();
    await eventually(() => peer.busyPings() > 0, "Unity is asked whether it is free");
    peer.dropConnections();
    expect((await ann.outcome(record.logId)).record).toMatchObject(UNKNOWN);
    await eventually(() => peer.accepted() > 1, "it is connected again");
    expect(peer.begun).toEqual(["execute_menu_item"]);
  });

  test("is left alone unless that was asked for", async () => {
    const peer = await open();
    const system = await start();
    await system.present(system.editor);
    expect(peer.accepted()).toBe(0);
  });
});

describe("▲12 a worker is killed in the middle of a call", () => {
  /** `unity-broker worker` as a process of its own; its settings switch these Editors on. */
  async function startProcess(system: System, home: string) {
    const processes = createProcesses();
    const toRedis = await layCable(() => system.redis.connection);
    closers.push(async () => {
      expect(await processes.close()).toEqual([]);
      await toRedis.close();
    });
    const env = environment(home, {
      REDIS_URL: `redis://127.0.0.1:${toRedis.port}`,
      UNITY_BROKER_DATA_DIR: home,
      UNITY_BROKER_EDITORS_DIR: join(home, "editors"),
      UNITY_BROKER_UNITY_MCP: "true",
      UNITY_MCP_STATUS_DIR: folder,
    });
    const worker = processes.start("worker", ["worker"], env);
    await worker.line(/^Worker for/);
    return worker;
  }

  test("the next one finds the call in sent.log: unknown, and not sent again", async () => {
    const home = join(folder, "home");
    mkdirSync(home, { mode: 0o700 });
    const peer = await open();
    const editorId = idOf(peer);
    const system = await start({ worker: null });
    const worker = await startProcess(system, home);
    await system.present({ editorId });
    const ann = system.client();
    const next = peer.next();
    const { record } = await ann.submit("manage_editor", PLAY, { editor: editorId });
    (await next).end();
    await worker.kill("SIGKILL");
    await startProcess(system, home);
    const { record: ended } = await ann.outcome(record.logId);
    expect(ended).toMatchObject(UNKNOWN);
    expect(ended.error?.message).toMatch(/\(sent\.log\)/);
    expect(peer.begun).toEqual(["manage_editor"]);
  });
});

describe("a domain reload", () => {
  test("and a new port: the running call is unknown, the waiting one runs", async () => {
    const peer = await open();
    const { ann, submit } = await serve(peer);
    const next = peer.next();
    const first = await submit("manage_editor", PLAY);
    await next;
    peer.free();
    let behind = "";
    await peer.reload({
      moved: true,
      async away() {
        behind = (await submit("manage_scene", { action: "save" })).record.logId;
        expect((await ann.outcome(first.record.logId)).record).toMatchObject(UNKNOWN);
      },
    });
    expect((await ann.outcome(behind)).record.state).toBe("completed");
    expect(peer.begun).toEqual(["manage_editor", "manage_scene"]);
  });
});

describe("another program than the one that was meant", () => {
  const isSaid = (system: System, pattern: RegExp) =>
    eventually(async () => {
      const { editors, unreached } = await system.broker.editors();
      return [...editors.map(({ diagnosis }) => diagnosis), ...unreached].some(
        (said) => said !== undefined && pattern.test(said.message),
      );
    }, "it is said");

  test("another project's Editor on the port gets no command", async () => {
    const peer = await open();
    const system = await serve(peer);
    const { port } = peer;
    await peer.close({ crash: true });
    // Its own file is not there yet.
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    const other = await open({ projectPath: join(folder, "Other"), port, folder: elsewhere });
    await system.submit("manage_editor", PLAY);
    await isSaid(system, /Other/);
    expect(other.begun).toEqual([]);
  });

  test("the file of an Editor that crashed does not disturb the one that has its port now", async () => {
    const crashed = await open({ projectPath: join(folder, "Crashed") });
    const { port } = crashed;
    await crashed.close({ crash: true });
    const peer = await open({ port });
    const { outcome, store } = await serve(peer);
    expect((await outcome("manage_editor", PLAY)).record.state).toBe("completed");
    expect(await store.editors.find(idOf(crashed))).toBeUndefined();
    expect(peer.accepted()).toBe(1);
  });
});
