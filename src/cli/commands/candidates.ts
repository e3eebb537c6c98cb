/** What may follow a typed line: from the table of all commands, which also help is made of. */
import type { ArgsDef, CommandDef } from "citty";
import table from "../clients/clients.json" with { type: "json" };
import { PAUSES } from "../declared/asking.js";
import { SHELLS } from "../declared/completing.js";

export interface Candidate {
  value: string;
  description: string;
}

/** What a running broker knows; none without one. */
export type Known = "tools" | "editors" | "log_ids";
export type AskKnown = (what: Known) => Promise<Candidate[]>;

/** By the name of the argument or option. */
const ASKED: Readonly<Record<string, Known>> = {
  log_id: "log_ids",
  id: "log_ids",
  "log-id": "log_ids",
  "force-new": "log_ids",
  editor: "editors",
  tool: "tools",
};

/** Words that only one command takes, by the command and its argument. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "editors action": [...PAUSES, "claim", "forget"],
  "completion shell": SHELLS,
  "install client": table.clients.map(({ id }) => id),
  "uninstall client": table.clients.map(({ id }) => id),
  "call if-away": ["wait", "refuse"],
  "run if-away": ["wait", "refuse"],
  "run output": ["text", "json"],
  "simulate engine": ["typescript", "dotnet"],
};

/** `line`: as typed so far, the program's name included. Nothing is known of files: the shell completes those. */
export async function candidatesFor(line: string, root: CommandDef, ask: AskKnown): Promise<Candidate[]> {
  const words = line.trimStart().split(/\s+/).slice(1);
  const partial = words.pop() ?? "";
  const { command, name, rest } = await commandOf(root, words);
  const args: ArgsDef = { ...(await resolved(command.args)), ...(await resolved(root.args)) };
  const found = await candidates(command, name, args, rest, partial, ask);
  return found.filter(({ value }) => value.startsWith(partial));
}

async function candidates(
  command: CommandDef,
  name: string,
  args: ArgsDef,
  rest: readonly string[],
  partial: string,
  ask: AskKnown,
): Promise<Candidate[]> {
  if (rest.includes("--")) return [];
  const open = openOption(args, rest);
  if (open !== undefined) return valuesOf(name, open, ask);
  if (partial.startsWith("-")) return optionsOf(args, rest);
  const commands = await resolved(command.subCommands);
  if (commands) return Promise.all(Object.entries(commands).map(([value, given]) => described(value, given)));
  const positional = Object.entries(args).flatMap(([key, { type }]) => (type === "positional" ? [key] : []));
  const next = positional[positionals(args, rest)];
  return next === undefined ? [] : valuesOf(name, next, ask);
}

async function described(value: string, given: unknown): Promise<Candidate> {
  const { meta } = (await resolved(given)) as CommandDef;
  return { value, description: (await resolved(meta))?.description ?? "" };
}

function valuesOf(command: string, argument: string, ask: AskKnown): Promise<Candidate[]> {
  const known = ASKED[argument];
  if (known) return ask(known);
  const words = WORDS[`${command} ${argument}`] ?? [];
  return Promise.resolve(words.map((value) => ({ value, description: "" })));
}

/** The option whose value is typed now. */
function openOption(args: ArgsDef, rest: readonly string[]): string | undefined {
  const name = /^--([^=]+)$/.exec(rest.at(-1) ?? "")?.[1];
  return name !== undefined && args[name]?.type === "string" ? name : undefined;
}

/** Those that are not there yet. */
function optionsOf(args: ArgsDef, rest: readonly string[]): Candidate[] {
  return Object.entries(args).flatMap(([name, { type, default: standard, description = "" }]) => {
    if (type === "positional") return [];
    const option = type === "boolean" && standard === true ? `--no-${name}` : `--${name}`;
    return rest.includes(option) && name !== "set" ? [] : [{ value: option, description }];
  });
}

/** How many positional arguments are typed. */
function positionals(args: ArgsDef, rest: readonly string[]): number {
  return rest.filter((word, at) => !word.startsWith("-") && openOption(args, rest.slice(0, at)) === undefined)
    .length;
}

/** The command that the words name, and what follows its name. */
async function commandOf(
  root: CommandDef,
  words: readonly string[],
): Promise<{ command: CommandDef; name: string; rest: string[] }> {
  let command = root;
  let name = "";
  let rest: string[] = [];
  const general = await resolved(root.args);
  for (const word of words) {
    const commands = await resolved(command.subCommands);
    const next = commands && Object.hasOwn(commands, word) ? commands[word] : undefined;
    // The value of an option in front of the command.
    if (!next || (general && openOption(general, rest) !== undefined)) {
      rest.push(word);
      continue;
    }
    command = (await resolved(next)) as CommandDef;
    name = name === "" ? word : `${name} ${word}`;
    rest = [];
  }
  return { command, name, rest };
}

async function resolved<T>(
  given: T | Promise<T> | (() => T | Promise<T>) | undefined,
): Promise<T | undefined> {
  return typeof given === "function" ? (given as () => T | Promise<T>)() : given;
}
