/** Checks the project folders that UNITY_BROKER_EDITORS names: an Editor whose folder is wrong is never looked for. */
import { realpath } from "node:fs/promises";
import { createConfiguredEditors } from "../../worker/discovery/configured-editors.js";
import { UsageError } from "../command.js";
import { readProject } from "../launch/project.js";
import type { Settings } from "../processes/settings.js";
import type { Finding } from "./finding.js";

/** A problem for each folder that is no Unity project, or in which no uLoop bridge has recorded its port. */
export async function checkNamedEditors({ named }: Pick<Settings, "named">): Promise<Finding[]> {
  const folders = named.flatMap((one) => ("project" in one ? [one.project] : []));
  const findings = await Promise.all(folders.map(faultOf));
  return findings.filter((finding) => finding !== undefined);
}

async function faultOf(project: string): Promise<Finding | undefined> {
  const problem = (fault: string, next: string): Finding => ({
    check: "named Editor",
    state: "problem",
    says: `UNITY_BROKER_EDITORS names ${project}: ${fault}`,
    next,
  });
  try {
    await realpath(project);
    readProject(project);
  } catch (error) {
    const fault = error instanceof UsageError ? "this is no Unity project" : (error as Error).message;
    return problem(
      fault,
      "Name the folder of a Unity project, the one with Assets and ProjectSettings, or remove the name.",
    );
  }
  let reason = "";
  const log = { debug: () => {}, info: () => {}, error: () => {}, warn: noted };
  const [found] = await createConfiguredEditors([{ project }], log)();
  return found === undefined
    ? problem(
        `its uLoop bridge has not recorded its port there${reason}`,
        "Open the project in Unity with uLoopMCP and start its server. An Editor with our own bridge needs no name: remove this one.",
      )
    : undefined;

  function noted(details: unknown): void {
    reason = ` (${(details as { error: string }).error})`;
  }
}
