/** What an Editor's window can show of the connected MCP clients: what its own worker told its own bridge. */
import { expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, stdio } = useMcpCallers();

const CURSOR = { name: "cursor", version: "2.0" };
const CLAUDE = { name: "claude-code", version: "1.0.3" };

type Client = { name: string; runs?: string; waits?: number };
type Status = { status(): { clients: { clients: readonly Client[]; total: number } | undefined } };
const namesIn = (editor: Status) =>
  editor
    .status()
    .clients?.clients.map(({ name }) => name)
    .sort()
    .join();

test("an Editor is told who is connected after hello, and again when somebody comes or leaves", async () => {
  const system = await start();
  const { editor, gateway } = system;
  await eventually(() => editor.status().clients?.total === 0, "it is told that nobody is there");
  const claude = await stdio(gateway, { info: CLAUDE });
  const cursor = await http(gateway, CURSOR);
  await eventually(() => namesIn(editor) === "claude-code,cursor", "it is told of both");
  expect(editor.status().clients?.clients).toContainEqual({ ...CURSOR, transport: "http" });

  const later = await system.addEditor();
  await eventually(() => namesIn(later) === "claude-code,cursor", "an Editor that came later is told");

  editor.faults.dropConnections();
  await eventually(() => editor.status().clients === undefined, "nobody tells it of changes any more");
  await eventually(() => namesIn(editor) === "claude-code,cursor", "the next connection tells it again");

  await claude.leave();
  await eventually(() => namesIn(editor) === "cursor", "it is told who left");
  await cursor.leave();
  await eventually(() => editor.status().clients?.total === 0, "it is told that nobody is left");
});

test("an Editor's list is bounded and printable, whatever clients call themselves", async () => {
  const { editor, gateway } = await start();
  await stdio(gateway, { info: { name: `\u001b]0;owned\u0007${"x".repeat(9_000)}`, version: "<b>\n" } });
  await eventually(() => editor.status().clients?.total === 1, "it is told");
  expect(editor.status().clients?.clients).toEqual([
    { name: expect.stringMatching(/^\\u001b\]0;owned\\u0007x+…$/), version: "<b>\\n", transport: "stdio" },
  ]);
  expect(editor.status().clients?.clients[0]?.name.length).toBe(64);
});

test("an Editor is told what each client runs there and how much of it waits, and when that is over", async () => {
  const system = await start();
  const { editor, gateway, bench } = system;
  const claude = await stdio(gateway, { info: CLAUDE });
  const cursor = await http(gateway, CURSOR);
  const doing = () =>
    (editor.status().clients?.clients ?? []).map(
      ({ name, runs, waits }) => `${name} ${runs ?? ""} ${waits ?? 0}`,
    );
  await claude.call("work", { Name: "a", Hold: true, timeout: 0 });
  await bench.begins("a");
  await cursor.call("work", { Name: "b", timeout: 0 });
  await claude.call("work", { Name: "c", timeout: 0 });
  await eventually(
    () => doing().sort().join() === "claude-code work 1,cursor  1",
    "it is told what runs and waits",
  );
  bench.finish("a");
  await eventually(() => doing().sort().join() === "claude-code  0,cursor  0", "it is told that it is over");
});

test("a plain bridge is told nothing", async () => {
  const system = await start({ worker: null });
  const plain = await system.addEditor({ plain: true });
  await system.addWorker();
  await Promise.all([system.present(system.editor), system.present(plain)]);
  for (const total of [1, 2, 3]) {
    const caller = await stdio(system.gateway, { info: CLAUDE });
    await eventually(() => system.editor.status().clients?.total === total, "our own bridge is told");
    // What was sent on its connection before a call has arrived before the answer.
    const answer = await caller.call("work", { Name: `work ${total}`, editor: plain.editorId });
    expect(answer.status).toBe("completed");
  }
  expect(plain.status().clients).toBeUndefined();
});
