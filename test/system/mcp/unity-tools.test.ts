/** Unity's tools for clients that never read tools/list again: a call through them is the call itself. */
import { describe, expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, stdio } = useMcpCallers();

const WORK = { tool: "work", arguments: { Name: "a" }, timeout: 30 };

describe("list_unity_tools", () => {
  test("lists them in brief, and one with its arguments", async () => {
    const { gateway, editor } = await start();
    const client = await stdio(gateway);
    const { tools } = await client.call("list_unity_tools");
    const names = (tools as { name: string }[]).map(({ name }) => name);
    expect(names).toContain("work");
    expect(names).not.toContain("call_unity_tool");
    expect(JSON.stringify(tools)).not.toContain("inputSchema");
    expect(await client.call("list_unity_tools", { tool: "work" })).toMatchObject({
      tools: [
        {
          name: "work",
          editors: [editor.editorId],
          inputSchema: { properties: { Name: {}, timeout: {}, force_new: {} } },
        },
      ],
    });
    expect(await client.call("list_unity_tools", { tool: "wrok" })).toMatchObject({
      error_code: "INVALID_ARGUMENTS",
      error: expect.stringContaining("there are: "),
    });
  });

  test("says which tool models are not offered, and why; it is called all the same", async () => {
    const { gateway, editor, executions, store } = await start();
    const known = editor.tools.get("work");
    if (!known) throw new Error("no such tool");
    const published = new Promise((resolve) => store.notifier.on("editors", resolve));
    editor.tools.add({ ...known, name: "team/work" });
    editor.toolsChanged();
    await published;
    const client = await stdio(gateway);
    expect(await client.tools()).toContain("work");
    expect(await client.tools()).not.toContain("team/work");
    const { tools, message } = await client.call("list_unity_tools");
    expect((tools as { name: string }[]).filter((tool) => "not_in_list" in tool)).toMatchObject([
      { name: "team/work", not_in_list: expect.stringContaining("at most 64 letters") },
    ]);
    expect(message).toContain("not_in_list");
    const call = { tool: "team/work", arguments: { name: "b" }, timeout: 30 };
    expect(await client.call("call_unity_tool", call)).toMatchObject({ status: "completed" });
    expect(executions("b")).toBe(1);
  });

  test("has a tool that came after the client's own list", async () => {
    const { gateway, editor, store } = await start();
    const client = await stdio(gateway);
    await client.call("list_unity_tools");
    const published = new Promise((resolve) => store.notifier.on("editors", resolve));
    editor.tools.remove("look");
    editor.toolsChanged();
    await published;
    const { tools } = await client.call("list_unity_tools");
    expect((tools as { name: string }[]).map(({ name }) => name)).not.toContain("look");
  });
});

describe("call_unity_tool", () => {
  test("is the call itself: one sent directly joins it, and finds its outcome", async () => {
    const { gateway, bench, executions } = await start();
    const [ann, ben] = [await http(gateway), await http(gateway)];
    const held = { Name: "a", Hold: true };
    const first = await ann.call("call_unity_tool", { tool: "work", arguments: held, timeout: 0 });
    expect(first).toMatchObject({ status: "timeout", tool: "work" });
    const joined = await ben.call("work", { ...held, timeout: 0 });
    expect(joined).toMatchObject({ deduplicated: true, log_id: first.log_id });
    bench.finish("a");
    const through = await ben.call("call_unity_tool", { tool: "work", arguments: held, timeout: 30 });
    expect(through).toMatchObject({ status: "completed", deduplicated: true, log_id: first.log_id });
    expect(executions("a")).toBe(1);
  });

  test("counts as delivered as a direct one does: typed again after its answer it runs again", async () => {
    const { gateway, executions } = await start();
    const client = await stdio(gateway);
    const first = await client.call("call_unity_tool", WORK);
    await client.settle();
    const second = await client.call("call_unity_tool", WORK);
    expect([first.status, second.status]).toEqual(["completed", "completed"]);
    expect(second).not.toHaveProperty("deduplicated");
    expect(executions("a")).toBe(2);
  });

  test("takes the broker's parameters beside the tool's arguments, and among them", async () => {
    const system = await start();
    const second = await system.addEditor();
    await system.present(second);
    const client = await http(system.gateway);
    for (const [Name, call] of [
      ["beside", { arguments: { Name: "beside" }, editor: second.editorId }],
      ["among", { arguments: { Name: "among", editor: second.editorId } }],
    ] as const) {
      const answer = await client.call("call_unity_tool", { tool: "work", ...call, timeout: 30 });
      expect(answer, Name).toMatchObject({ status: "completed", editor: second.editorId });
    }
    const first = await client.call("call_unity_tool", { ...WORK, editor: second.editorId });
    const forced = { ...WORK, editor: second.editorId, force_new: first.log_id };
    expect(await client.call("call_unity_tool", forced)).not.toHaveProperty("deduplicated");
    expect(second.counter().map(({ what }) => what)).toEqual(["beside", "among", "a", "a"]);
  });

  test("what is wrong with it is refused, and nothing runs", async () => {
    const { gateway, executions } = await start();
    const client = await http(gateway);
    const refused = async (args: Record<string, unknown>) =>
      (await client.call("call_unity_tool", { timeout: 30, ...args })).error_code;
    expect(await refused({})).toBe("INVALID_ARGUMENTS");
    expect(await refused({ tool: "work", arguments: '{"Name":"a"}' })).toBe("INVALID_ARGUMENTS");
    expect(await refused({ ...WORK, edit0r: "game-1" })).toBe("INVALID_ARGUMENTS");
    expect(await refused({ ...WORK, timeout: -1 })).toBe("INVALID_TIMEOUT");
    expect(executions("a")).toBe(0);
  });
});
