/** `unity-broker workers`: which workers own the known Editors, where they run, and in which version. */

import { printableJson, printableValues } from "../../../shared/printable.js";
import type { Owner } from "../../../shared/store/editors/owners.js";
import type { Store } from "../../../shared/store/store.js";
import { type Colours, coloursFor } from "../../client/render.js";
import type { Run } from "../../command.js";
import type * as declared from "../../declared/processes.js";
import { environment } from "../../environment.js";
import { startRuntime } from "../../processes/runtime.js";
import { table } from "../../table.js";

interface ShownWorker {
  host: string;
  pid: number;
  version: string;
  editors: { id: string; connected: boolean }[];
}

interface Shown {
  workers: ShownWorker[];
  /** Known, and owned by nobody. */
  unowned: string[];
}

export const workers: Run<typeof declared.workers> = async ({ args }) => {
  const runtime = await startRuntime();
  try {
    const shown = await read(runtime.store);
    console.log(args.json ? printableJson(shown) : render(shown, coloursFor(process.stdout, environment())));
  } finally {
    await runtime.close();
  }
};

async function read({ editors, owners }: Pick<Store, "editors" | "owners">): Promise<Shown> {
  const known = await editors.availability();
  const live = new Set(known.flatMap(({ id, isLive }) => (isLive ? [id] : [])));
  const owned = await owners.of(known.map(({ id }) => id));
  const workers = new Map<string, ShownWorker>();
  for (const owner of owned) {
    const worker = workers.get(nameOf(owner)) ?? { ...describe(owner), editors: [] };
    worker.editors.push({ id: owner.editor, connected: live.has(owner.editor) });
    workers.set(nameOf(owner), worker);
  }
  const ids = new Set(owned.map(({ editor }) => editor));
  return { workers: [...workers.values()], unowned: known.map(({ id }) => id).filter((id) => !ids.has(id)) };
}

const nameOf = ({ host, pid }: Owner): string => `${host} ${pid}`;

const describe = ({ host = "unknown", pid = 0, version = "unknown" }: Owner) => ({ host, pid, version });

function render(shown: Shown, colours: Colours): string {
  const { workers, unowned } = printableValues(shown) as Shown;
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
