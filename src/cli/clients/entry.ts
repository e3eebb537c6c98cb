/** This broker's entry in a client's file: the wanted entry, whether an existing one is ours, and what to change. */
import { isDeepStrictEqual } from "node:util";
import { UsageError } from "../command.js";
import type { Client } from "./client-table.js";

export type Entry = Record<string, unknown>;
export type Transport = "stdio" | "http";

/** How a client reaches the broker. */
export type Reach =
  | { transport: "stdio"; command: string; args: string[] }
  | { transport: "http"; url: string; token: string | undefined };

/**
 * The command with which a client starts this very broker: the global command if that was `typed`, else its file.
 *
 * Always a full path. With the package's name, a client would run whatever somebody publishes under that name in the
 * registry, where it is not ours.
 */
export function startCommand(main: string, typed = ""): Reach {
  const words = typed.split("/");
  const isGlobal =
    typed.startsWith("/") &&
    /^unity-(job-)?broker$/.test(words.at(-1) ?? "") &&
    !words.some((word) => word === "node_modules" || word === "_npx");
  return isGlobal
    ? { transport: "stdio", command: typed, args: ["mcp"] }
    : { transport: "stdio", command: "node", args: [main, "mcp"] };
}

/** The entry in the client's format; a UsageError if the client cannot reach a broker that way. */
export function entryOf(client: Client, reach: Reach): Entry {
  if (reach.transport === "stdio") return { ...(fill(client.stdio, reach) as Entry), ...client.limits };
  if (client.http === null) {
    throw new UsageError(
      `${client.title}'s file lists servers that it starts itself, none by address: leave --http and --token out`,
    );
  }
  const { entry, token } = client.http;
  const filled = fill(reach.token === undefined ? entry : { ...entry, ...token }, reach) as Entry;
  return { ...filled, ...client.limits };
}

function fill(template: unknown, reach: Reach): unknown {
  if (template === "{args}") return reach.transport === "stdio" ? reach.args : [];
  if (typeof template === "string") {
    const values = reach as unknown as Record<string, string>;
    return template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
  }
  return Object.fromEntries(
    Object.entries(template as Entry).map(([key, value]) => [key, fill(value, reach)]),
  );
}

/**
 * Does an entry start this broker, or name one of its addresses?
 *
 * Another server of the same name must not be overwritten by mistake; ours may be in the form of an older version or
 * of another checkout. An address counts only if it is known: other Unity servers listen on loopback too.
 */
export function isOurs(entry: unknown, addresses: readonly string[]): boolean {
  if (typeof entry !== "object" || entry === null) return false;
  const { command, args } = entry as { command?: unknown; args?: unknown };
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
  const names = words.map((word) => word.split(/[\\/]/).at(-1) ?? "");
  // A folder of that name in another server's argument starts nothing.
  const isStarted = (name: string, place: number): boolean =>
    /^unity-(job-)?broker(@.*|\.cmd|\.exe)?$/.test(name) && words[place + 1] === "mcp";
  if (names.some(isStarted)) return true;
  if (words.some((word) => /[\\/]dist[\\/]cli[\\/]main\.js$/.test(word)) && words.at(-1) === "mcp")
    return true;
  return Object.values(entry).some((value) => typeof value === "string" && addresses.includes(value));
}

/**
 * The fields to write, by path inside the entry, to turn the present entry into the wanted one; none if it is that
 * already, `whole` if the old one must be replaced.
 *
 * The user's additions (an environment, a time limit, a switch) stay, as long as the transport and the address do:
 * fields of the other transport make Codex refuse its whole file, and a token is for the gateway that it was given for.
 */
export function changes(
  there: unknown,
  wanted: Entry,
  { limits }: Pick<Client, "limits">,
): "whole" | { path: string[]; value: unknown }[] {
  if (typeof there !== "object" || there === null || Array.isArray(there)) return "whole";
  if (transportOf(there as Entry) !== transportOf(wanted)) return "whole";
  const isElsewhere = Object.entries(wanted).some(
    ([key, value]) => typeof value === "string" && /^https?:/.test(value) && (there as Entry)[key] !== value,
  );
  if (isElsewhere) return "whole";
  const isUsers = (key: string): boolean => key in limits && key in there;
  return differences(
    there as Entry,
    Object.fromEntries(Object.entries(wanted).filter(([key]) => !isUsers(key))),
  );
}

function differences(there: Entry, wanted: Entry): { path: string[]; value: unknown }[] {
  return Object.entries(wanted).flatMap(([key, value]) => {
    const old = there[key];
    if (isTable(value) && isTable(old)) {
      return differences(old, value).map((one) => ({ ...one, path: [key, ...one.path] }));
    }
    return isDeepStrictEqual(old, value) ? [] : [{ path: [key], value }];
  });
}

function isTable(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function transportOf(entry: Entry): Transport {
  return "command" in entry ? "stdio" : "http";
}
