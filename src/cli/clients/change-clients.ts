/** Plans, makes and reports the changes of one client's file, or of those of every client found here (`--all`). */
import { UsageError } from "../command.js";
import { CLIENTS } from "./client-table.js";
import { carryOut, type Outcome, type Place, type Plan } from "./installation.js";

// Reports the outcome of `install` and `uninstall` to people and to programs.

const SAID: Record<Outcome, { done: string; planned: string }> = {
  added: { done: "was added", planned: "would be added" },
  replaced: {
    done: "was ours and different: it was replaced",
    planned: "is ours and different: it would be replaced",
  },
  taken: {
    done: "was another server: it was overwritten (--force)",
    planned: "is another server: it would be overwritten (--force)",
  },
  unchanged: { done: "is already installed; nothing was written", planned: "is already installed" },
  removed: { done: "was removed", planned: "would be removed" },
  absent: { done: "is not installed; nothing was written", planned: "is not installed" },
};

export interface Report {
  scope: "user" | "project";
  /** Nothing was written. */
  isPrint: boolean;
  backup: string | undefined;
}

/** For people: what happened, where, and what to do before the client notices. */
function toPeople({ client, file, name, outcome, fragment, warnings }: Plan, report: Report): string {
  const { isPrint, backup } = report;
  const isWritten = !isPrint && outcome !== "unchanged" && outcome !== "absent";
  return [
    `${client.title}: server ${name} ${SAID[outcome][isPrint ? "planned" : "done"]}`,
    `  file    ${file.path}`,
    ...(backup === undefined ? [] : [`  backup  ${backup}`]),
    ...warnings.map((warning) => `  note    ${warning}`),
    ...(isPrint && fragment !== "" ? ["", fragment.trimEnd()] : []),
    ...(isWritten ? [client.afterwards] : []),
  ].join("\n");
}

/** For programs. Contains the fragment only if it was requested, because it may hold a token. */
function toPrograms({ client, file, name, outcome, fragment, warnings }: Plan, report: Report): string {
  const { scope, isPrint, backup } = report;
  return JSON.stringify({
    client: client.id,
    scope,
    file: file.path,
    name,
    outcome,
    written: !isPrint && outcome !== "unchanged" && outcome !== "absent",
    ...(backup === undefined ? {} : { backup }),
    ...(isPrint ? { fragment } : {}),
    warnings,
  });
}

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
