/** The MCP clients that `install` knows, read from one table of data (clients.json): where each keeps its file, which are here. */
import { existsSync } from "node:fs";
import { dirname, posix, win32 } from "node:path";
import { z } from "zod";
import { UsageError } from "../command.js";
import table from "./clients.json" with { type: "json" };

const Client = z.object({
  id: z.string(),
  /** Its name in its makers' spelling. */
  title: z.string(),
  /** `json`: the client documents plain JSON; `jsonc`: it reads comments too. */
  format: z.enum(["json", "jsonc", "toml"]),
  /** The keys under which a file lists its servers by name. */
  servers: z.array(z.string()),
  /** The user's own file. */
  file: z.object({ darwin: z.string(), linux: z.string(), win32: z.string() }),
  /** Of a client that is installed one of these is there, or its file; without any, the folder of its file is. */
  traces: z.array(z.string()).default([]),
  /** Relative to a project's folder; null where the client has no such file. */
  projectFile: z.string().nullable(),
  stdio: z.record(z.string(), z.unknown()),
  /** Null where the file cannot name a server by its address. */
  http: z
    .object({
      entry: z.record(z.string(), z.unknown()),
      /** The fields that a bearer token adds. */
      token: z.record(z.string(), z.unknown()),
    })
    .nullable(),
  /** Time limits for the entry, if the client's defaults are shorter than a first start or a wait may take. */
  limits: z.record(z.string(), z.number()).default({}),
  /** What the user must do before the client notices the change. */
  afterwards: z.string(),
  /** The page that documents all this. */
  source: z.url(),
});
export type Client = z.infer<typeof Client>;

export const { clients: CLIENTS } = z.object({ clients: z.array(Client) }).parse(table);

/** Whose files are meant. Nothing here reads which system runs, so that tests cover every system's paths. */
export interface Machine {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  home: string;
}

/** The client with this id; otherwise a UsageError lists the ids. */
export function clientNamed(id: string | undefined): Client {
  const client = CLIENTS.find((one) => one.id === id);
  if (client !== undefined) return client;
  const ids = CLIENTS.map((one) => one.id).join(", ");
  throw new UsageError(id ? `unknown client ${id}: choose one of ${ids}` : `which client? One of ${ids}`);
}

/** The user's own file of a client. Systems without a row of their own (BSD) count as Linux. */
export function userFile(client: Client, machine: Machine): string {
  const { platform } = machine;
  return filledIn(client.file[platform === "win32" || platform === "darwin" ? platform : "linux"], machine);
}

/** The clients that have left something in the home folder: those that were started at least once. */
export function foundClients(machine: Machine): Client[] {
  return CLIENTS.filter((client) => {
    const file = userFile(client, machine);
    const traces = client.traces.map((trace) => filledIn(trace, machine));
    return [file, ...(traces.length === 0 ? [dirname(file)] : traces)].some((path) => existsSync(path));
  });
}

function filledIn(written: string, { platform, env, home }: Machine): string {
  const { join, isAbsolute } = platform === "win32" ? win32 : posix;
  const filled = written.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, otherwise: string) => {
    const value = env[name];
    return value && isAbsolute(value) ? value : otherwise;
  });
  // join also turns the table's / into the system's separator.
  return filled.startsWith("~") ? join(home, filled.slice(1)) : join(filled);
}

/** A project's file of a client; a UsageError if the client has none. */
export function projectFile(client: Client, folder: string, machine: Pick<Machine, "platform">): string {
  if (client.projectFile === null) {
    throw new UsageError(
      `${client.title} has no file for a project: leave --project out to use the user's file`,
    );
  }
  return (machine.platform === "win32" ? win32 : posix).join(folder, client.projectFile);
}
