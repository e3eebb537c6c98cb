/** run-tests in the C# bridge, and what waits for Unity: through a real MCP client. */
import { describe, expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

async function inWorld(use: (world: World, client: Awaited<ReturnType<World["http"]>>) => Promise<void>) {
  const world = await startWorld({ engine: "dotnet" });
  try {
    const client = await world.http();
    await use(world, client);
    await client.close();
  } catch (error) {
    // What it has left behind is no news then.
    await world.close().catch(() => undefined);
    throw error;
  }
  await world.close();
}

describe("run-tests in the C# bridge", { skip: !hasDotnet }, () => {
  test(
    "unsaved scenes and scripts that do not compile are refused, saying what to do, and nothing runs",
    () =>
      inWorld(async ({ editor }, client) => {
        await editor.do({
          do: "script",
          tests: 4,
          testFailures: 1,
          unsavedScenes: ["Assets/Level.unity", "Untitled"],
          compileErrors: 1,
          compileSeconds: 0,
        });
        const refused = await client.call("run-tests", { timeout: 20 });
        expect(refused).toMatchObject({ status: "error", error_type: "unsaved_scenes" });
        expect(refused.error).toContain('Assets/Level.unity, the untitled scene "Untitled"');
        expect(await client.call("run-tests", { UnsavedScenes: "save", timeout: 20 })).toMatchObject({
          error_type: "unsaved_scenes",
          error: expect.stringContaining("saved under a name"),
        });

        await editor.do({ do: "script", unsavedScenes: ["Assets/Level.unity"] });
        expect(await client.call("compile", { timeout: 20 })).toMatchObject({ result: { Success: false } });
        const broken = await client.call("run-tests", { UnsavedScenes: "save", timeout: 20 });
        expect(broken).toMatchObject({ status: "error", error_type: "compile_errors" });
        expect(broken.error).toContain("Assets/Scripts/Script0.cs(1,1): CS1002: ; expected");
        expect(await editor.executions("run-tests")).toHaveLength(0);

        expect(await editor.executions("save Assets/Level.unity")).toHaveLength(0);

        await editor.do({ do: "script", compileErrors: 0 });
        await client.call("compile", { ForceRecompile: true, timeout: 20 });
        const ran = await client.call("run-tests", {
          ...{ UnsavedScenes: "save", ReportResults: "passed", ReportName: "Test00[1-3]$", timeout: 20 },
        });
        expect(ran).toMatchObject({ status: "completed", result: { passed: 3, failed: 1 } });
        const { cases } = ran.result as { cases: { name: string }[] };
        expect(cases.map(({ name }) => name)).toEqual([
          "Simulated.EditMode.Test002",
          "Simulated.EditMode.Test003",
        ]);
        expect(await editor.executions("save Assets/Level.unity")).toHaveLength(1);
      }),
    120_000,
  );

  test(
    "which passed so far is answered while the run goes on",
    () =>
      inWorld(async ({ editor }, client) => {
        await editor.do({ do: "script", tests: 30, testFailures: 1, testSeconds: 0.1 });
        const begun = await client.call("run-tests", { ReportResults: "passed", timeout: 0.5 });
        const partial = await until("some have passed", async () => {
          const { partial_result } = await client.call("get_operation_result", { log_id: begun.log_id });
          const report = partial_result as { cases: { result: string }[]; total: number } | undefined;
          return report !== undefined && report.cases.length > 1 && report;
        });
        expect(partial).toMatchObject({ total: 30, failed: 1 });
        expect(new Set(partial.cases.map(({ result }) => result))).toEqual(new Set(["passed"]));
        await client.call("cancel_operation", { log_id: begun.log_id });
        expect(
          await client.call("get_operation_result", { log_id: begun.log_id, wait: true, timeout: 20 }),
        ).toMatchObject({ status: "cancelled" });
      }),
    120_000,
  );
});

describe("what was edited beside the Editor", { skip: !hasDotnet }, () => {
  test(
    "is compiled and loaded before the tests begin, which then run once",
    () =>
      inWorld(async ({ editor }, client) => {
        await editor.do({ do: "script", tests: 4, testFailures: 1, compileReloads: true });
        const generation = async () => (await editor.do({ do: "status" })).generation as number;
        const before = await generation();
        expect(await client.call("run-tests", { timeout: 40 })).toMatchObject({ result: { failed: 1 } });
        expect(await generation()).toBe(before);

        await editor.do({ do: "edit", failingTests: 3 });
        const filter = { FilterType: "regex", FilterValue: "Test00[1-4]$" };
        const ran = await client.call("run-tests", { ...filter, timeout: 40 });
        expect(ran).toMatchObject({ status: "completed", result: { total: 4, failed: 3 } });
        expect(ran).not.toHaveProperty("deduplicated");
        expect(await generation()).toBe(before + 1);
        expect(await editor.executions("run-tests")).toHaveLength(2);
      }),
    120_000,
  );

  test(
    "is told where it does not compile, and no test runs",
    () =>
      inWorld(async ({ editor }, client) => {
        await editor.do({ do: "script", tests: 4, compileErrors: 1 });
        await editor.do({ do: "edit", failingTests: 0 });
        const refused = await client.call("run-tests", { timeout: 40 });
        expect(refused).toMatchObject({ status: "error", error_type: "compile_errors" });
        expect(refused.error).toContain("Assets/Scripts/Script0.cs(1,1): CS1002: ; expected");
        expect(await editor.executions("run-tests")).toHaveLength(0);
        // What was corrected is found by the next run.
        await editor.do({ do: "script", compileErrors: 0 });
        expect(await client.call("run-tests", { timeout: 40 })).toMatchObject({ result: { passed: 4 } });
      }),
    120_000,
  );

  test(
    "can be cancelled while it compiles: no test runs",
    () =>
      inWorld(async ({ editor }, client) => {
        await editor.do({ do: "script", compileSeconds: 600 });
        await editor.do({ do: "edit", failingTests: 0 });
        const { log_id } = await client.call("run-tests", { timeout: 0.5 });
        await until("it compiles", async () => {
          const { progress } = await client.call("get_operation_status", { log_id });
          return (progress as { message?: string } | undefined)?.message === "Unity compiles changed scripts";
        });
        await client.call("cancel_operation", { log_id });
        const answer = await client.call("get_operation_result", { log_id, wait: true, timeout: 20 });
        expect(answer).toMatchObject({ status: "cancelled" });
        expect(await editor.executions("run-tests")).toHaveLength(0);
      }),
    120_000,
  );
});

describe("what changes or tests the project waits for Unity", { skip: !hasDotnet }, () => {
  test(
    "it says for what, is still queued after a domain reload, and then runs once",
    () =>
      inWorld(async ({ editor }, client) => {
        await editor.do({ do: "script", tests: 2 });
        await editor.do({ do: "phase", phase: "compiling" });
        // Not held: it changes nothing.
        expect(await client.call("get-hierarchy", { timeout: 20 })).toMatchObject({ status: "completed" });

        const held = await client.call("run-tests", { timeout: 0.5 });
        const said = await until("it says what it waits for", async () => {
          const status = await client.call("get_operation_status", { log_id: held.log_id });
          return (status.progress as { message?: string } | undefined)?.message !== undefined && status;
        });
        expect(said).toMatchObject({ state: "dispatched", progress: { message: "Waits: scripts compile" } });

        await editor.do({ do: "reload", downMs: 50 });
        await editor.do({ do: "phase", phase: "importing" });
        await until("it waits again after the reload", async () => {
          const { progress } = await client.call("get_operation_status", { log_id: held.log_id });
          return (progress as { message?: string } | undefined)?.message === "Waits: assets are imported";
        });
        expect(await editor.executions("run-tests")).toHaveLength(0);
        await editor.do({ do: "phase", phase: "ready" });
        expect(
          await client.call("get_operation_result", { log_id: held.log_id, wait: true, timeout: 40 }),
        ).toMatchObject({ status: "completed", result: { passed: 2 } });
        expect(await editor.executions("run-tests")).toHaveLength(1);
      }),
    120_000,
  );

  test(
    "its cancellation ends the wait, and it never begins",
    () =>
      inWorld(async ({ editor }, client) => {
        const MenuItemPath = "Simulator/Block For 0.07 Seconds";
        await editor.do({ do: "phase", phase: "changing_play_mode" });
        const held = await client.call("execute-menu-item", { MenuItemPath, timeout: 0.5 });
        await until("it waits", async () => {
          const { progress } = await client.call("get_operation_status", { log_id: held.log_id });
          return (progress as { message?: string } | undefined)?.message === "Waits: play mode changes";
        });
        await client.call("cancel_operation", { log_id: held.log_id });
        expect(
          await client.call("get_operation_result", { log_id: held.log_id, wait: true, timeout: 20 }),
        ).toMatchObject({ status: "cancelled" });
        await editor.do({ do: "phase", phase: "ready" });
        await client.call("compile", { timeout: 20 });
        expect(await editor.executions(MenuItemPath)).toHaveLength(0);
      }),
    120_000,
  );
});
