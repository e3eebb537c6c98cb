/** MCP for Unity after a call that was answered before it ended: it waits for the main thread, and for no more. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { editorIdOf } from "../../../src/shared/editors/target.js";
import { startUnityMcpPeer, type UnityMcpPeer } from "../../harness/editor/unity-mcp-peer.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
let folder: string;
let peer: UnityMcpPeer;
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ujb-unity-mcp-")));
  peer = await startUnityMcpPeer({ folder, projectPath: join(folder, "Shop") });
});
afterEach(async () => {
  await peer.close();
  rmSync(folder, { recursive: true });
});

test.each([
  { status: "error", error: "Tool ping is disabled in the Unity Editor.", command: "ping" },
  { status: "error", error: "Object reference not set to an instance of an object", command: "ping" },
])("a ping that its main thread answers with $error is an answer", async (answer) => {
  const system = await start({
    unityMcpFolder: folder,
    worker: { bridges: { unityMcp: { busyPauseMs: 5 } } },
  });
  const editor = editorIdOf(basename(peer.projectPath), hostname(), peer.projectPath);
  await system.present({ editorId: editor });
  const ann = system.client();
  const next = peer.next();
  const lost = await ann.submit("execute_menu_item", { menuPath: "File/Build" }, { editor });
  const begun = await next;
  peer.free();
  peer.refuses("ping", answer);
  begun.timeOut();
  expect((await ann.outcome(lost.record.logId)).record.state).toBe("interrupted");
  begun.end();
  const behind = await ann.submit("manage_scene", { action: "save" }, { editor });
  expect((await ann.outcome(behind.record.logId)).record.state).toBe("completed");
  expect(peer.begun).toEqual(["execute_menu_item", "manage_scene"]);
});
