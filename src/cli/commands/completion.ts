/** `unity-broker completion`: the script for a shell, and for that script what may follow a typed line. */
import type { CommandDef } from "citty";
import type { Answer } from "../../shared/operation/answer.js";
import { printableLine } from "../../shared/printable.js";
import { print } from "../client/ask-broker.js";
import type { BrokerClient } from "../client/broker-client.js";
import { connectBroker } from "../client/connect-broker.js";
import { type Run, UsageError } from "../command.js";
import { type Candidate, candidatesFor, type Known } from "../completion/candidates.js";
import { SCRIPTS } from "../completion/shell-scripts.js";
import { settingsEnvironment } from "../configuration/config-file.js";
import type * as declared from "../declared/completing.js";
import { SHELLS } from "../declared/completing.js";
import { brokerFolder, readEndpoint } from "../pipe/broker-place.js";
import { readSettings } from "../processes/settings.js";

export function completionOf(root: () => CommandDef): Run<typeof declared.completion> {
  return async ({ args }) => {
    if (args.shell === "words") {
      const found = await candidatesFor(args.line ?? "", root(), askRunning);
      if (found.length > 0) await print(found.map(lineOf).join("\n"));
      return;
    }
    const shell = SHELLS.find((name) => name === args.shell);
    if (!shell) throw new UsageError(`completion ${args.shell}: only ${SHELLS.join(", ")} are known`);
    await print(SCRIPTS[shell].trimEnd());
  };
}

const lineOf = ({ value, description }: Candidate): string =>
  description === "" ? value : `${printableLine(value)}\t${printableLine(description)}`;

/** Nobody waits longer for a Tab, ms. */
const PATIENCE_MS = 3_000;

/** Of the broker of these settings, if it runs: a Tab starts none. */
async function askRunning(what: Known): Promise<Candidate[]> {
  try {
    const settings = readSettings();
    const { UNITY_BROKER_TOKEN: token, UNITY_BROKER_URL: url, UNITY_BROKER_BACKGROUND } = settings.config;
    const isElsewhere = token !== undefined || url !== undefined;
    const isRunning =
      UNITY_BROKER_BACKGROUND && readEndpoint(brokerFolder(settingsEnvironment())) !== undefined;
    if (!isElsewhere && !isRunning) return [];
    const late = new Promise<Candidate[]>((resolve) => {
      setTimeout(() => resolve([]), PATIENCE_MS).unref();
    });
    return await Promise.race([
      connectBroker({ serves: false }, settings).then((client) => known(client, what)),
      late,
    ]);
  } catch {
    // A line that is being typed is no place for errors.
    return [];
  }
}

async function known(client: BrokerClient, what: Known): Promise<Candidate[]> {
  try {
    if (what === "tools")
      return (await client.tools()).map(({ name, title = "" }) => ({ value: name, description: title }));
    if (what === "editors") {
      const { editors } = await client.call("list_editors");
      return (editors as { id: string; project: string }[]).map(({ id, project }) => ({
        value: id,
        description: project,
      }));
    }
    const { operations } = await client.call("list_operations", { limit: 30 });
    return (operations as Answer[]).map(({ log_id = "", tool = "", state = "" }) => ({
      value: log_id,
      description: `${tool} ${state}`,
    }));
  } finally {
    await client.close();
  }
}
