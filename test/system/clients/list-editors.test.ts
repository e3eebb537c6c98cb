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
