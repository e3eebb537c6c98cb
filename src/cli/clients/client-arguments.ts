/** The arguments of `install` and `uninstall`: the client, which of its files, the entry's name, the broker's address. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { UsageError } from "../command.js";
import { readConfiguration } from "../configuration/read-configuration.js";
import { environment } from "../environment.js";
import { gatewayOriginOf } from "../gateway-origin.js";
import {
  type Client,
  clientNamed,
  foundClients,
  type Machine,
  projectFile,
  userFile,
} from "./client-table.js";
import type { Place } from "./installation.js";

export interface ClientArguments {
  client?: string | undefined;
  all: boolean;
  /** "" if it is given without a folder. */
  project?: string | undefined;
  /** "" if it is given without an address. */
  http?: string | undefined;
  name: string;
  force: boolean;
}

/**
 * The arguments, with an empty value after `--project` and `--http` if they have none.
 *
 * The parser has no optional values: it would take the next option for the folder.
 */
export function withoutValues(rawArgs: readonly string[]): string[] {
  return rawArgs.map((argument, index) => {
    const isOpen = argument === "--project" || argument === "--http";
    const next = rawArgs[index + 1];
    return isOpen && (next === undefined || next.startsWith("-")) ? `${argument}=` : argument;
  });
}

/**
 * Where to write: one place, or with `--all` that of each client found here.
 *
 * Reads everything outside of the arguments here. Throws a UsageError for arguments that make no sense.
 */
export function placesOf(args: ClientArguments): { places: Place[]; address: string } {
  const machine: Machine = { platform: process.platform, env: environment(), home: homedir() };
  if (args.all && args.client !== undefined)
    throw new UsageError(`--all means every client found here: leave ${args.client} out`);
  if (args.all && args.project !== undefined)
    throw new UsageError("--all writes the user's files: leave --project out, or name a client");
  const clients = args.all ? foundClients(machine) : [clientNamed(args.client)];
  // Codex and Claude Code allow no more.
  if (!/^[A-Za-z0-9_-]+$/.test(args.name)) {
    throw new UsageError(`--name ${args.name}: use letters, digits, - and _ only`);
  }
  const own = ownAddress();
  const address = args.http ? addressIn(args.http) : own;
  const places = clients.map((client) => ({
    client,
    path: pathOf(client, args.project, machine),
    scope: args.project === undefined ? ("user" as const) : ("project" as const),
    name: args.name,
    addresses: [own, address],
    force: args.force,
  }));
  return { places, address };
}

function pathOf(client: Client, project: string | undefined, machine: Machine): string {
  if (project === undefined) return userFile(client, machine);
  const folder = resolve(project);
  if (!existsSync(folder)) throw new UsageError(`--project ${project}: there is no such folder`);
  return projectFile(client, folder, machine);
}

/** Where this machine's gateway listens by its configuration. */
function ownAddress(): string {
  const { UNITY_BROKER_HOST: host, UNITY_BROKER_PORT: port } = readConfiguration();
  return `${gatewayOriginOf(host, port)}/mcp`;
}

function addressIn(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`--http ${text} is not an address such as http://127.0.0.1:8787/mcp`);
}
