/** The background broker of this configuration (none yet, running, older than this command, or in the way), and the folders that it is to look into. */
import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { createConfiguredEditors } from "../../worker/discovery/configured-editors.js";
import { UsageError } from "../command.js";
import { settingsEnvironment } from "../configuration/config-file.js";
import { readProject } from "../launch/project.js";
import { brokerFolder, brokerFolders, isNewer, readEndpoint } from "../pipe/broker-place.js";
import { controlBroker } from "../pipe/control-client.js";
import { connect } from "../pipe/reach-broker.js";
import type { Settings } from "../processes/settings.js";
import { VERSION } from "../version.js";
import { type Finding, ok } from "./finding.js";

export async function checkBroker({ config }: Settings, self: string): Promise<Finding> {
  if (!config.UNITY_BROKER_BACKGROUND)
    return ok("broker", "none in the background (UNITY_BROKER_BACKGROUND): each client serves itself");
  const folder = brokerFolder(settingsEnvironment());
  const endpoint = readEndpoint(folder);
  if (!endpoint) return ok("broker", "none in the background yet; the first client starts it");
  const { pid } = endpoint;
  const socket = await connect(endpoint);
  const status = socket && (await controlBroker(socket, "status", VERSION).catch(() => undefined));
  if (!status) {
    const says = `process ${pid} has the place of the broker and does not answer; its log is ${join(folder, "broker.log")}`;
    return { check: "broker", state: "problem", says, fix: `${self} down` };
  }
  const clients = status.sessions.length === 1 ? "1 client" : `${status.sessions.length} clients`;
  const where = status.isForeground ? "in a terminal (`up`)" : "in the background";
  const says = `${clients}, ${where} (version ${status.version}, process ${pid})`;
  if (!isNewer(VERSION, status.version)) return ok("broker", says);
  const next = "The next client of this version takes its place; what it runs goes on.";
  return { check: "broker", state: "warning", says: `${says}, older than this command (${VERSION})`, next };
}

/** Those of other settings, or of the same file before it was changed: their clients stay with them. */
export function checkOtherBrokers({ dataDir }: Settings, self: string): Finding[] {
  const own = brokerFolder(settingsEnvironment());
  const others = brokerFolders(realpathSync(dataDir))
    .filter((folder) => folder !== own)
    .flatMap((folder) => readEndpoint(folder) ?? []);
  if (others.length === 0) return [];
  const says = `${others.map(({ pid }) => `process ${pid}`).join(", ")} serves clients with other settings, or with older ones of this file`;
  const next = `Restart those clients to have them served with these settings, or end all brokers: ${self} down`;
  return [{ check: "other brokers", state: "warning", says, next }];
}

// The project folders that UNITY_BROKER_EDITORS names: an Editor whose folder is wrong is never looked for.

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
