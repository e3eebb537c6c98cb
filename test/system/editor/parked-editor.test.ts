/** An Editor whose window is in the background, and whose system parks its loop: it updates only when the bridge wakes it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";

const PARKED = { do: "unfocus", unfocused: true, parked: true };

describe("a parked Editor, over the whole broker", { skip: !hasDotnet }, () => {
  let world: World;
  let client: Awaited<ReturnType<World["http"]>>;
  beforeAll(async () => {
    world = await startWorld({ engine: "dotnet" });
    await world.editor.do(PARKED);
    client = await world.http();
  });
  afterAll(async () => {
    await client.close();
    await world.close();
  });

  const generation = async (): Promise<number> =>
    Number((await world.editor.do({ do: "status" })).generation);

  test("compiles, and reloads its scripts behind that", async () => {
    const before = await generation();
    await world.editor.do({ do: "script", compileReloads: true });
    expect(await client.call("compile", { timeout: 20 })).toMatchObject({
      status: "completed",
      result: { Success: true, ReloadFollows: true },
    });
    expect(await client.call("get-hierarchy", { timeout: 20 })).toMatchObject({ status: "completed" });
    expect(await generation()).toBe(before + 1);
  });

  test("runs its tests, also those that need play mode and a domain reload", async () => {
    const before = await generation();
    await world.editor.do({ do: "script", tests: 5 });
    for (const TestMode of ["EditMode", "PlayMode"])
      expect(await client.call("run-tests", { TestMode, timeout: 20 })).toMatchObject({
        status: "completed",
        result: { completed: 5 },
      });
    expect(await generation()).toBe(before + 1);
  });

  test("enters play mode, plays frames and leaves it", async () => {
    const play = (parameters: object) => client.call("control-play-mode", { ...parameters, timeout: 20 });
    expect(await play({ Action: "Enter" })).toMatchObject({ result: { State: "Playing", Changed: true } });
    const { Frame } = (await play({ Action: "Pause" })).result as { Frame: number };
    expect(await play({ Action: "Step", ToFrame: Frame + 5 })).toMatchObject({
      result: { Frame: Frame + 5 },
    });
    expect(await play({ Action: "Exit" })).toMatchObject({ result: { State: "Edit", Changed: true } });
  });
});

describe("the bridge of a parked Editor", { skip: !hasDotnet }, () => {
  test("keeps it ticking while play mode lasts that a call entered, and lets it sleep when nothing is under way", async () => {
    const editor = await startEditorUnderTest("dotnet");
    try {
      await editor.do(PARKED);
      const updates = async (): Promise<number> => Number((await editor.do({ do: "status" })).updates);
      const owner = await editor.owner();
      /** One that has not come yet: a second of the Editor's time. */
      const nextHeartbeat = async (): Promise<void> => {
        for (const _ of owner.unread("bridge/heartbeat")) await owner.notice("bridge/heartbeat");
        await owner.notice("bridge/heartbeat");
      };
      const untilUpdates = async (enough: number): Promise<void> => {
        while ((await updates()) < enough) await nextHeartbeat();
      };
      const untilAsleep = async (): Promise<void> => {
        for (let before = -1, now = await updates(); now !== before; now = await updates()) {
          before = now;
          await nextHeartbeat();
        }
      };
      const play = (id: string, Action: string) =>
        owner.submit(id, { tool: "control-play-mode", arguments: { Action } });
      await editor.do({ do: "script", playModeReloads: false });
      await play("enter", "Enter");
      expect(await owner.finished("enter")).toMatchObject({ status: "completed" });
      // More than the ticks that follow every operation.
      await untilUpdates((await updates()) + 200);

      await play("exit", "Exit");
      expect(await owner.finished("exit")).toMatchObject({ status: "completed" });
      await untilAsleep();

      // A person's compilation, which Unity reports only in an update.
      await editor.do({ do: "phase", phase: "compiling" });
      await untilUpdates((await updates()) + 20);
      await editor.do({ do: "phase", phase: "ready" });
      await untilAsleep();

      await owner.submit("after", { arguments: { MenuItemPath: "Assets/Refresh" } });
      expect(await owner.finished("after")).toMatchObject({ status: "completed" });
    } finally {
      await editor.close();
    }
  });
});
