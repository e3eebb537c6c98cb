/** What a client reads of the Editors. */
import { expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { stdio } = useMcpCallers();

test("list_editors orders by project, then by id, whichever was heard last", async () => {
  const system = await start({ editor: { projectPath: "/projects/zoo" } });
  for (const projectPath of ["/two/ant", "/one/ant", "/projects/bee"])
    await system.present(await system.addEditor({ projectPath }));
  const client = await stdio(system.gateway);
  const listed = async () => {
    const { editors } = await client.call("list_editors");
    return (editors as { id: string; project: string }[]).map(({ id, project }) => ({ id, project }));
  };
  const first = await listed();
  expect(first.map(({ project }) => project)).toEqual(["ant", "ant", "bee", "zoo"]);
  expect(first.map(({ id }) => id)).toEqual(first.map(({ id }) => id).sort());
});

test("list_editors says what an Editor runs, since when, and how many wait; of another's operation only that it runs", async () => {
  const { bench, broker, client, gateway } = await start();
  const ann = client();
  const { record } = await ann.submit("work", { Name: "held", Hold: true });
  await bench.begins("held");
  await ann.reaches(record.logId, "running");
  const behind = await client("bob").submit("work", { Name: "behind" });
  const seenBy = async (principal: string) => (await broker.editors(principal)).editors[0]?.workload;
  const since = expect.any(Number);
  expect(await seenBy("ann")).toEqual({
    running: { since, own: { tool: "work", logId: record.logId } },
    waiting: 1,
  });
  expect(await seenBy("bob")).toEqual({ running: { since }, waiting: 1 });
  const { editors } = await (await stdio(gateway)).call("list_editors");
  expect(editors).toMatchObject([{ running: { since: expect.stringMatching(/^20.*Z$/) }, waiting: 1 }]);
  expect(JSON.stringify(editors)).not.toContain(record.logId);
  bench.finish("held");
  await client("bob").outcome(behind.record.logId);
  expect(await seenBy("ann")).toEqual({ running: undefined, waiting: 0 });
});
