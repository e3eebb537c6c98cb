/** Plans, makes and reports the changes of one client's file, or of those of every client found here (`--all`). */
import { UsageError } from "../command.js";
import { CLIENTS } from "./client-table.js";
import { carryOut, type Place, type Plan } from "./installation.js";
import { toPeople, toPrograms } from "./report.js";

export interface ChangeOptions {
  all: boolean;
  print: boolean;
  json: boolean;
}

/** With `--all`, a client whose file stays as it was keeps no other one back; the exit code says that there was one. */
export async function changeClients(
  places: readonly Place[],
  { all, print, json }: ChangeOptions,
  plan: (place: Place) => Promise<Plan>,
): Promise<void> {
  const change = async (place: Place): Promise<string> => {
    const planned = await plan(place);
    const backup = print ? undefined : await carryOut(planned, new Date());
    return (json ? toPrograms : toPeople)(planned, { scope: place.scope, isPrint: print, backup });
  };
  if (!all) {
    for (const place of places) console.log(await change(place));
    return;
  }
  const reports: string[] = [];
  for (const place of places) {
    try {
      reports.push(await change(place));
    } catch (error) {
      // Another way to reach the broker than the client has is no failure of this one.
      const isFailure = !(error instanceof UsageError);
      if (isFailure) process.exitCode = 1;
      const { message } = error as Error;
      const outcome = isFailure ? "failed" : "skipped";
      reports.push(
        json
          ? JSON.stringify({ client: place.client.id, file: place.path, outcome, written: false, message })
          : `${place.client.title}: ${outcome}: ${message}`,
      );
    }
  }
  const found = places.map(({ client }) => client);
  const missing = CLIENTS.filter((client) => !found.includes(client));
  if (json) {
    const absent = missing.map(({ id }) =>
      JSON.stringify({ client: id, outcome: "not-found", written: false }),
    );
    console.log(`[${[...reports, ...absent].join(",\n")}]`);
    return;
  }
  const titles = (clients: typeof CLIENTS): string => clients.map(({ title }) => title).join(", ") || "none";
  console.log([`Found: ${titles(found)}. Not found: ${titles(missing)}.`, ...reports].join("\n\n"));
}
