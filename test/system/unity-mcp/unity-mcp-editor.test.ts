/** An Editor with MCP for Unity: whatever becomes of a call, it is sent once, and nothing is guessed. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { editorIdOf } from "../../../src/shared/editors/editor-id.js";
import type { WorkerOptions } from "../../../src/worker/worker.js";
import {
  startUnityMcpPeer,
  type UnityMcpPeer,
  type UnityMcpPeerOptions,
} from "../../harness/editor/unity-mcp-peer.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { stdio } = useMcpCallers();
let folder: string;
const peers: UnityMcpPeer[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ujb-unity-mcp-")));
});
afterEach(async () => {
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
  test("is found by its status file, known by its project, and runs commands", async () => {
    const peer = await open();
    const { store, outcome, submit, editorId } = await serve(peer);
    expect((await store.editors.find(editorId))?.profile).toMatchObject({
      plain: true,
      bridge: "unity-mcp",
      projectName: "Shop",
      projectPath: peer.projectPath,
      unityVersion: "6000.0.1f1",
    });
    const view = await outcome("manage_editor", PLAY);
    expect(view.record.state).toBe("completed");
    expect(JSON.parse(view.result ?? "")).toMatchObject({ success: true, data: PLAY });
    expect((await submit("manage_editor", PLAY)).relation).toBe("replayed");
    expect(peer.begun).toEqual(["manage_editor"]);
  });

  test("an MCP client sees which bridge it has, calls its tools, and is told what may have happened", async () => {
    const peer = await open();
    const { gateway, editor, editorId } = await serve(peer);
    const client = await stdio(gateway);
    const { editors } = (await client.call("list_editors")) as unknown as {
      editors: { id: string; bridge?: string }[];
    };
    const bridges = Object.fromEntries(editors.map(({ id, bridge }) => [id, bridge]));
    expect(bridges[editorId]).toMatch(/^unity-mcp \(no ledger/);
    expect(bridges[editor.editorId]).toBeUndefined();
    const on = { editor: editorId, timeout: 30 };
    expect(await client.call("manage_editor", { ...PLAY, ...on })).toMatchObject({ status: "completed" });
    const next = peer.next();
    const lost = client.call("execute_menu_item", { menuPath: "File/Build", ...on });
    (await next).timeOut();
    expect(await lost).toMatchObject({ error_code: "OUTCOME_UNKNOWN" });
    expect(peer.begun).toEqual(["manage_editor", "execute_menu_item"]);
  });

  test("is left alone unless that was asked for", async () => {
    const peer = await open();
    const system = await start();
    await system.present(system.editor);
    expect(peer.accepted()).toBe(0);
  });
});

describe("▲12 the answer does not say how the command ended", () => {
  test("the bridge's own timeout: unknown, never sent again, and the next call waits until Unity is free", async () => {
    const peer = await open();
    const { ann, submit } = await serve(peer);
    const next = peer.next();
    const { record } = await submit("manage_editor", PLAY);
    const begun = await next;
    begun.timeOut();
    const { record: ended } = await ann.outcome(record.logId);
    expect(ended).toMatchObject(UNKNOWN);
    expect(ended.error?.message).toMatch(/timed out after 30000 ms.*may be waiting, running or over/);
    expect((await submit("manage_editor", PLAY)).relation).toBe("replayed");
    peer.free();
    const behind = await submit("manage_scene", { action: "save" });
    await ann.reaches(behind.record.logId, "dispatched");
    expect(peer.begun).toEqual(["manage_editor"]);
    begun.end();
    expect((await ann.outcome(behind.record.logId)).record.state).toBe("completed");
    expect(peer.begun).toEqual(["manage_editor", "manage_scene"]);
  });
});

describe("▲12 a lost connection", () => {
  test("with the worker: the next one finds the call in sent.log, and does not send it", async () => {
    const peer = await open();
    const system = await start({ unityMcpFolder: folder, worker: null });
    const editorId = idOf(peer);
    const worker = await system.addWorker();
    await system.present({ editorId });
    const ann = system.client();
    const next = peer.next();
    const { record } = await ann.submit("manage_editor", PLAY, { editor: editorId });
    (await next).end();
    await worker.close();
    await system.addWorker();
    await system.present({ editorId });
    expect((await ann.outcome(record.logId)).record).toMatchObject(UNKNOWN);
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
    const other = await open({ projectPath: join(folder, "Other"), port });
    // The newest file of a port counts: here it is the wrong one.
    peer.status();
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
