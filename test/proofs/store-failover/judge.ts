/** After a failover: the Editors' own accounts, what callers were answered, and what the store says now. */
import type { CounterLine } from "../../../src/simulator/ledger/counter-file.js";
import type { ControlledEditor } from "../../harness/editor/editor-control.js";
import { until } from "../../harness/processes/processes.js";
import { grouped } from "../engine/grouped.js";
import { allEnded, leakedKeys } from "../engine/judge/leftovers.js";
import { argumentsOf, type Call, type Caller } from "./caller.js";
import type { SentinelSite } from "./site.js";

export interface Judged {
  site: SentinelSite;
  editors: readonly (ControlledEditor & { executions(): CounterLine[] })[];
  calls: readonly Call[];
  /** Two that have called nothing: a caller that has read an outcome may call again, and have it run again. */
  readers: readonly [Caller, Caller];
  struckAt: number;
}

export async function judge({ site, editors, calls, readers, struckAt }: Judged): Promise<string[]> {
  const found: string[] = [];
  const [reader, repeater] = readers;
  for (const call of calls) {
    const { path, ended } = call;
    const result = JSON.stringify(ended?.result);
    if (ended?.status !== "completed") {
      found.push(`${path} was answered ${JSON.stringify(ended)}`);
      continue;
    }
    const when = (call.endedAt ?? 0) < struckAt ? "before" : "after";
    const read = await reader.request("get_operation_result", { log_id: ended.log_id });
    if (read.status !== "completed" || JSON.stringify(read.result) !== result)
      found.push(`${path} completed ${when} the failover, and its log_id answers ${JSON.stringify(read)}`);
    const again = await repeater.request("execute-menu-item", { ...argumentsOf(call), timeout: 5 });
    if (again.deduplicated !== true || JSON.stringify(again.result) !== result)
      found.push(
        `${path} completed ${when} the failover, and the same call answers ${JSON.stringify(again)}`,
      );
  }
  await allEnded({ hand: site.hand, editors, storeWasLost: true }).catch((error: Error) =>
    found.push(error.message),
  );
  found.push(
    ...wrongExecutions(
      editors.flatMap((editor) => editor.executions()),
      calls,
    ),
  );
  await until(
    "only what stays is left",
    async () => (await leakedKeys(site.hand)).length === 0,
    30_000,
  ).catch(async () => found.push(...(await leakedKeys(site.hand)).map((key) => `leaked key ${key}`)));
  return found;
}

function wrongExecutions(began: readonly CounterLine[], calls: readonly Call[]): string[] {
  const found: string[] = [];
  for (const [id, all] of grouped(began, ({ operationId }) => operationId))
    if (all.length > 1) found.push(`${id} began ${all.length} times`);
  const ofCall = grouped(began, ({ what }) => what);
  for (const { path, ended } of calls) {
    const runs = ofCall.get(path)?.length ?? 0;
    if (runs > 1) found.push(`${path} began ${runs} times`);
    if (runs === 0 && ended?.status === "completed") found.push(`${path} completed, and never began`);
  }
  return found;
}
