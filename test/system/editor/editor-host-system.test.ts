/** The whole broker over the C# bridge: what users do while Unity is blocked, reloads or loses its worker. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";
import { isFinal } from "../../proofs/engine/outcomes.js";

const BLOCKS = "Simulator/Block For 35 Seconds";

async function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  const world = await startWorld({ engine: "dotnet" });
  try {
    await use(world);
  } finally {
    await world.close();
  }
}

describe("the broker over the C# bridge", { concurrent: true, skip: !hasDotnet }, () => {
  test("a blocking menu item, a worker that dies and a reload that was asked for meanwhile: one line", async ({
    expect,
  }) => {
    await inWorld(async (world) => {
      const client = await world.http();
      const call = { MenuItemPath: BLOCKS, timeout: 1 };
      const first = await client.call("execute-menu-item", call);
      expect(first.status).toBe("timeout");
      await until("it has begun", async () => (await world.editor.executions(BLOCKS)).length === 1);
      // Done by the Editor as soon as its main thread is free again.
      const reloaded = world.editor.do({ do: "reload", downMs: 100 });
      await world.worker.kill();
      const meanwhile = await client.call("execute-menu-item", call);
      expect(meanwhile).toMatchObject({ status: "timeout", log_id: first.log_id });
      await world.worker.start();
      const reported = await until(
        "the outcome is told",
        async () => {
          const answer = await client.call("execute-menu-item", { ...call, timeout: 5 });
          return isFinal(answer) && answer;
        },
        90_000,
      );
      expect(reported).toMatchObject({ status: "completed", log_id: first.log_id });
      expect(await reloaded).toMatchObject({ generation: 1, threadsLeft: [], inTime: true });
      expect(await world.editor.executions()).toHaveLength(1);
      await client.close();
    });
  });

  test("arguments that nearly fit are understood; what only the Editor can judge, it refuses before it begins", async ({
    expect,
  }) => {
    await inWorld(async (world) => {
      const client = await world.http();
      const say = (args: object) => client.call("ping", { ...args, timeout: 20 });
      for (const args of [{ message: "hi" }, { MESSAGE: "hi" }, { Message: "hi", timeout: "20" }])
        expect(await say(args)).toMatchObject({ status: "completed" });
      const tooLarge = await client.call("get-logs", { max_count: 2 ** 40, timeout: 20 });
      expect(tooLarge).toMatchObject({ status: "error", state: "failed", error_code: "INVALID_ARGUMENTS" });
      expect(tooLarge.message).toContain("MaxCount must be an integer from ");
      expect(tooLarge.message).toContain("Nothing was executed");
      expect(tooLarge.started_at).toBeUndefined();
      await client.close();
    });
  });

  test("a test run that a domain reload cuts in the middle: one run, all its results", async ({ expect }) => {
    await inWorld(async (world) => {
      await world.editor.do({ do: "script", tests: 20, testFailures: 3, testSeconds: 0.1 });
      const client = await world.http();
      const begun = await client.call("run-tests", { timeout: 0.5 });
      expect(begun.status).toBe("timeout");
      await until("tests have finished", async () => {
        const { progress } = await client.call("get_operation_status", { log_id: begun.log_id });
        return Number((progress as { progress?: number } | undefined)?.progress ?? 0) >= 3;
      });
      await world.editor.do({ do: "reload", downMs: 200 });
      const reported = await client.call("get_operation_result", {
        log_id: begun.log_id,
        wait: true,
        timeout: 40,
      });
      expect(reported).toMatchObject({
        status: "completed",
        result: { completed: 20, passed: 17, failed: 3 },
      });
      expect((reported.result as { failures: unknown[] }).failures).toHaveLength(3);
      expect(await world.editor.executions("run-tests")).toHaveLength(1);
      await client.close();
    });
  });

  test("▲13 labels that its user changes while it runs tests: the run goes on, and a call for the new pool finds it", async ({
    expect,
  }) => {
    await inWorld(async (world) => {
      await world.editor.do({ do: "script", tests: 20, testSeconds: 0.1 });
      const client = await world.http();
      expect(await client.call("ping", { editor: "pool:gpu" })).toMatchObject({
        error_code: "EDITOR_UNKNOWN",
      });
      const begun = await client.call("run-tests", { timeout: 0.5 });
      await world.editor.do({ do: "labels", labels: "GPU,two words" });
      await until("the broker has seen the labels", async () => {
        const { editors } = await client.call("list_editors", {});
        return (editors as { labels?: string[] }[])[0]?.labels?.join() === "gpu";
      });
      expect(
        await client.call("get_operation_result", { log_id: begun.log_id, wait: true, timeout: 40 }),
      ).toMatchObject({ status: "completed", result: { completed: 20 } });
      expect(await client.call("compile", { editor: "pool:gpu", timeout: 40 })).toMatchObject({
        status: "completed",
        pool: "pool:gpu",
      });
      expect(await world.editor.executions("run-tests")).toHaveLength(1);
      await client.close();
    });
  });

  test("tools that come with a reload reach a client that was told of no change before", async ({
    expect,
  }) => {
    await inWorld(async (world) => {
      const client = new Client({ name: "list-watcher", version: "1" });
      const transport = new StdioClientTransport({ ...(await world.stdioServer()), stderr: "ignore" });
      let changes = 0;
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
        changes += 1;
      });
      await client.connect(transport);
      world.processes.guard(transport.pid ?? 0);
      const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
      await until("the tools are known", async () => (await names()).includes("run-tests"));
      const before = changes;
      await world.editor.do({ do: "addTool", name: "made-by-hand" });
      await world.editor.do({ do: "reload", downMs: 50 });
      await until("the client is told", async () => changes > before);
      await until("the tool is listed", async () => (await names()).includes("made-by-hand"));
      const answer = await client.callTool({
        name: "made-by-hand",
        arguments: { Text: "hello", timeout: 20 },
      });
      expect(answer.structuredContent).toMatchObject({ status: "completed", result: { Text: "hello" } });
      await client.close();
    });
  });

  test("a queued operation runs once although the Editor reloads before it", async ({ expect }) => {
    await inWorld(async (world) => {
      await world.editor.do({ do: "script", tests: 5, testSeconds: 0.2 });
      const client = await world.http();
      const running = client.ask("run-tests", { timeout: 40 });
      await until("the run has begun", async () => (await world.editor.executions("run-tests")).length === 1);
      const item = "Simulator/Block For 0.07 Seconds";
      const queued = client.ask("execute-menu-item", { MenuItemPath: item, timeout: 40 });
      await queued.sent;
      await world.editor.do({ do: "reload", downMs: 50 });
      expect(await running.answer).toMatchObject({ status: "completed", result: { completed: 5 } });
      expect(await queued.answer).toMatchObject({ status: "completed" });
      expect(await world.editor.executions(item)).toHaveLength(1);
      await client.close();
    });
  });
});
