/** Installs into a client and uninstalls again: plans the change of the client's file, then makes it. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type ClientFile, readClientFile, replaceClientFile } from "./client-file.js";
import type { Client } from "./client-table.js";
import { assertOnlyChanged, at, type ConfigText, type Path } from "./config-text.js";
import { changes, type Entry, isOurs } from "./entry.js";
import { jsonText } from "./json-edits.js";
import { tomlText } from "./toml-edits.js";

/**
 * What becomes of the entry: `added` if there was none, `replaced` if ours was different, `taken` if another server's
 * was overwritten by force, `unchanged` and `absent` if there is nothing to write.
 */
export type Outcome = "added" | "replaced" | "taken" | "unchanged" | "removed" | "absent";

export interface Plan {
  client: Client;
  file: ClientFile;
  name: string;
  outcome: Outcome;
  /** The entry as it will be (or was, if it is removed), as a text of its own. */
  fragment: string;
  /** The whole new text; undefined if there is nothing to write. */
  text: string | undefined;
  isSecret: boolean;
  /** Warnings for the user. */
  warnings: string[];
}

export interface Place {
  client: Client;
  path: string;
  scope: "user" | "project";
  name: string;
  /** Addresses that identify an entry as ours. */
  addresses: readonly string[];
  /** Even if the entry is not ours. */
  force: boolean;
}

/** Writes nothing. Rejects if the file cannot be read, or an entry of that name is another server's. */
export async function planInstall(place: Place, wanted: Entry, isSecret: boolean): Promise<Plan> {
  const { client, name, force } = place;
  const { file, format, path, there } = await look(place);
  const warnings = notes(client, file);
  if (there !== undefined && !force && !isOurs(there, place.addresses)) {
    throw new Error(
      `${file.path} has a server ${name} that is not this broker, and was left as it is: ` +
        "choose another name with --name, or overwrite it with --force",
    );
  }
  const isForeign = there !== undefined && !isOurs(there, place.addresses);
  const todo = there === undefined || isForeign ? "whole" : changes(there, wanted, client);
  if (todo.length === 0) {
    const fragment = format.fragment(path, there);
    return { client, file, name, outcome: "unchanged", fragment, text: undefined, isSecret, warnings };
  }
  if (todo === "whole" && there !== undefined && !isForeign) {
    warnings.push(
      "the entry changed between stdio and HTTP, or its address: settings that were added to it manually are in the backup",
    );
  }
  const text = edit(file, () =>
    todo === "whole"
      ? format.set(file.text, path, wanted)
      : todo.reduce((now, change) => format.set(now, [...path, ...change.path], change.value), file.text),
  );
  const becomes = todo === "whole" ? wanted : at(format.read(text), path);
  edit(file, () => assertOnlyChanged(format, file.text, text, path, becomes));
  const outcome = there === undefined ? "added" : isForeign ? "taken" : "replaced";
  const fragment = format.fragment(path, plain(becomes));
  // In a project the folder may not exist yet: then it is created.
  if (place.scope === "user" && !existsSync(dirname(file.path))) {
    warnings.push(`${dirname(file.path)} was not there: is ${client.title} installed?`);
  }
  return { client, file, name, outcome, fragment, text, isSecret, warnings };
}

/** Writes nothing. Rejects if the file cannot be read, or the entry of that name is another server's. */
export async function planUninstall(place: Place): Promise<Plan> {
  const { client, name, force } = place;
  const { file, format, path, there } = await look(place);
  const plan = { client, file, name, isSecret: false, warnings: [] };
  if (there === undefined) return { ...plan, outcome: "absent", fragment: "", text: undefined };
  if (!force && !isOurs(there, place.addresses)) {
    throw new Error(
      `${file.path} has a server ${name} that is not this broker, and was left as it is: ` +
        "name ours with --name, or remove this one all the same with --force",
    );
  }
  const text = edit(file, () => format.remove(file.text, path));
  edit(file, () => assertOnlyChanged(format, file.text, text, path, undefined));
  return { ...plan, outcome: "removed", fragment: format.fragment(path, plain(there)), text };
}

/** Carries out the plan and answers where the copy of the old file is. */
export async function carryOut(plan: Plan, now: Date): Promise<string | undefined> {
  const { file, text, isSecret } = plan;
  return text === undefined ? undefined : replaceClientFile(file, { text, isSecret, now });
}

interface Look {
  file: ClientFile;
  format: ConfigText;
  path: Path;
  there: unknown;
}

async function look({ client, path: filePath, name }: Place): Promise<Look> {
  const file = await readClientFile(filePath);
  const format = client.format === "toml" ? tomlText : jsonText;
  const path = [...client.servers, name];
  const data = edit(file, () => format.read(file.text));
  return { file, format, path, there: at(data, path) };
}

/** If an edit fails the cause is in the file: names the file, which stays unchanged. */
function edit<T>(file: ClientFile, change: () => T): T {
  try {
    return change();
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`${file.path} was left as it is (${reason}): correct that, then run this again`);
  }
}

function notes(client: Client, file: ClientFile): string[] {
  if (client.format !== "json" || file.text.trim() === "") return [];
  try {
    JSON.parse(file.text);
    return [];
  } catch {
    return [
      `${client.title} documents plain JSON: comments or trailing commas in this file may stop it from reading it`,
    ];
  }
}

/** TOML tables come with a prototype of the parser's. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
