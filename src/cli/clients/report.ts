/** Reports the outcome of `install` and `uninstall` to people and to programs. */
import type { Outcome, Plan } from "./installation.js";

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
export function toPeople({ client, file, name, outcome, fragment, warnings }: Plan, report: Report): string {
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
export function toPrograms(
  { client, file, name, outcome, fragment, warnings }: Plan,
  report: Report,
): string {
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
