/** A second Editor in the same world, with a counter of its own. */
import { type ControlledEditor, startControlledEditor } from "../../../harness/editor/editor-control.js";
import type { TestClient } from "../../../harness/processes/process-clients.js";
import type { Execution, World } from "../../../harness/processes/process-world.js";
import { until } from "../../../harness/processes/processes.js";

/** Settles when it is served. */
export async function startOther(world: World, client: TestClient): Promise<ControlledEditor> {
  const folder = `${world.folder}/other`;
  const files = ["--counter-file", `${folder}.log`, "--ledger-folder", `${folder}-ledger`];
  const args = ["--project", `${folder}/Project`, ...files];
  const other = await startControlledEditor(world.processes, "typescript", args, world.env);
  await servedEditors(client, 2);
  return other;
}

/** Resolves when so many Editors are connected. */
export async function servedEditors(client: TestClient, count: number): Promise<void> {
  await until(`${count} Editors are served`, async () => {
    const { editors } = (await client.call("list_editors", {})) as unknown as {
      editors: { connected: boolean }[];
    };
    return editors.filter(({ connected }) => connected).length === count;
  });
}

export async function executionsIn(editor: ControlledEditor): Promise<Execution[]> {
  const { executions } = (await editor.do({ do: "status" })) as unknown as { executions: Execution[] };
  return executions;
}
