/** `unity-broker workers`: which workers own the known Editors, where they run, and in which version. */

import { type ShownWorkers, workersOf } from "../../../gateway/operator-verbs/editors.js";
import { printableJson, printableValues } from "../../../shared/printable.js";
import { type Colours, coloursFor } from "../../client/render.js";
import type { Run } from "../../command.js";
import type * as declared from "../../declared/processes.js";
import { environment } from "../../environment.js";
import { startRuntime } from "../../processes/runtime.js";
import { table } from "../../table.js";

export const workers: Run<typeof declared.workers> = async ({ args }) => {
  const runtime = await startRuntime();
  try {
    const shown = await workersOf(runtime.store);
    console.log(args.json ? printableJson(shown) : render(shown, coloursFor(process.stdout, environment())));
  } finally {
    await runtime.close();
  }
};

function render(shown: ShownWorkers, colours: Colours): string {
  const { workers, unowned } = printableValues(shown) as ShownWorkers;
  const rows = workers.map(({ host, pid, version, editors }) => [
    host,
    String(pid),
    version,
    editors.map(({ id, connected }) => (connected ? id : `${id} ${colours.red("(away)")}`)).join("\n"),
  ]);
  return [
    rows.length === 0
      ? "No worker owns an Editor: start one on the Editor's machine, `unity-broker worker`."
      : table(["HOST", "PID", "VERSION", "EDITORS"], rows),
    ...(unowned.length > 0 ? [`Without a worker: ${unowned.join(", ")}`] : []),
  ].join("\n");
}
