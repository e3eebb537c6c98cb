/** Eyes and play mode of the C# bridge, through an MCP client. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";

interface Called {
  raw: CallToolResult;
  answer: Record<string, unknown> & { result?: Record<string, unknown> };
}

type Call = (tool: string, args?: Record<string, unknown>) => Promise<Called>;

async function inWorld(use: (call: Call, world: World) => Promise<void>): Promise<void> {
  const world = await startWorld({ engine: "dotnet" });
  try {
    const client = new Client({ name: "assistant", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(world.url())));
    await use(async (name, args = {}) => {
      const raw = (await client.callTool({ name, arguments: { timeout: 30, ...args } })) as CallToolResult;
      const [first] = raw.content as { text: string }[];
      return { raw, answer: JSON.parse(first?.text ?? "") };
    }, world);
    await client.close();
  } finally {
    await world.close();
  }
}

describe("the C# bridge", { skip: !hasDotnet }, () => {
  test("shows a picture that a client can show, and says what there is to be seen", async () => {
    await inWorld(async (call) => {
      const { raw, answer } = await call("capture-screenshot", { MaxWidth: 160 });
      const [, image, link] = raw.content as unknown as [unknown, { data: string }, unknown];
      expect(image).toMatchObject({ type: "image", mimeType: "image/png" });
      const png = Buffer.from(image.data, "base64");
      expect(png.subarray(1, 4).toString("latin1")).toBe("PNG");
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([160, 90]);
      expect(link).toMatchObject({ type: "resource_link", mimeType: "image/png" });
      expect(answer.result).toEqual({
        View: "Game",
        Width: 160,
        Height: 90,
        content: [{ type: "image", mimeType: "image/png", bytes: png.length, uri: expect.any(String) }],
      });
      const window = await call("capture-screenshot", { View: "Window", WindowTitle: "inspector" });
      expect(window.answer.result).toMatchObject({ View: "Window", Width: 320 });
      const unknown = await call("capture-screenshot", { View: "Window", WindowTitle: "Profiler" });
      expect(unknown.answer).toMatchObject({ error_code: "TOOL_FAILED", error_type: "window_not_found" });
      expect(unknown.answer.message).toContain("Inspector");
    });
  });

  test("says its state, as much of it as is asked for", async () => {
    await inWorld(async (call) => {
      const whole = ["Scenes", "Selection", "PlayMode", "Packages", "Tags", "Layers", "BuildTarget"];
      const { answer } = await call("get-editor-state", { Parts: whole });
      const text = expect.any(String);
      expect(answer.result).toEqual({
        ...{ UnityVersion: text, ProjectPath: text, Phase: "ready" },
        Scenes: [
          { Name: "SampleScene", Path: text, IsLoaded: true, IsDirty: expect.any(Boolean), IsActive: true },
        ],
        SelectedCount: 1,
        Selection: [{ Name: "Root0", Type: "GameObject", Path: "/Root0" }],
        PlayMode: { State: "Edit" },
        Packages: expect.any(Array),
        Tags: expect.arrayContaining(["Untagged"]),
        Layers: expect.arrayContaining([{ Layer: 0, Name: "Default" }]),
        BuildTarget: { Active: "Android", Supported: expect.arrayContaining(["Android"]) },
      });
      const { answer: small } = await call("get-editor-state");
      expect(Object.keys(small.result ?? {})).not.toContain("Tags");
    });
  });

  test("enters play mode once, over the domain reload, and ends when it is there", async () => {
    await inWorld(async (call, world) => {
      const { editor } = world;
      const control = async (Action: string, more = {}) =>
        (await call("control-play-mode", { Action, ...more })).answer;
      const state = async () => (await call("get-editor-state", { Parts: ["PlayMode"] })).answer.result;

      expect(await control("Pause")).toMatchObject({ error_code: "TOOL_FAILED", error_type: "not_playing" });
      await editor.do({ do: "phase", phase: "compile_errors" });
      expect(await control("Enter")).toMatchObject({
        error_code: "TOOL_FAILED",
        error_type: "compile_errors",
      });
      await editor.do({ do: "phase", phase: "ready" });
      await editor.do({ do: "script", sceneIsDirty: true });
      const generation = async () => Number((await editor.do({ do: "status" })).generation);
      const before = await generation();
      const playing = {
        ...{ State: "Playing", Changed: true, Frame: expect.any(Number) },
        UnsavedScenes: ["Assets/Scenes/SampleScene.unity"],
      };
      // An answer that was lost: the call again finds it, and enters nothing.
      const [first, again] = await Promise.all([control("Enter"), control("Enter")]);
      expect(first).toMatchObject({ status: "completed", result: playing });
      expect(again).toMatchObject({ log_id: first.log_id });
      expect(await generation()).toBe(before + 1);
      expect(await state()).toMatchObject({
        Phase: "playing",
        PlayMode: { State: "Playing", Frame: expect.any(Number) },
      });

      expect(await control("Pause")).toMatchObject({ result: { State: "Paused", Changed: true } });
      const { PlayMode: paused } = (await state()) as { PlayMode: { Frame: number } };
      const ToFrame = paused.Frame + 2;
      expect(await control("Step", { ToFrame })).toMatchObject({
        result: { State: "Paused", Frame: ToFrame },
      });
      expect(await control("Resume")).toMatchObject({ result: { State: "Playing", Changed: true } });
      expect((await control("Exit")).result).toEqual({ State: "Edit", Changed: true });
      expect(await state()).toMatchObject({ Phase: "ready", PlayMode: { State: "Edit" } });
      const entered = (await editor.executions()).filter(({ operationId }) => operationId === first.log_id);
      expect(entered).toHaveLength(1);
    });
  });
});
