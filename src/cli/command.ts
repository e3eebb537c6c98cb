/** Defines a command from its declaration and from the code that it runs, which is loaded when it is called. */

import { type ArgsDef, type CommandContext, type CommandDef, type CommandMeta, defineCommand } from "citty";
import { diskProblem } from "../shared/machine/disk-problem.js";

/** A mistake of the user, as opposed to a failure: exit code 2. */
export class UsageError extends Error {}

/** The arguments of a command, and the texts of its help (src/cli/declared). */
export interface Declared<T extends ArgsDef> {
  meta: CommandMeta;
  args: T;
  /** What follows `--` is another program's: it is in `args._`, behind the positional arguments. */
  passesOn?: true;
  /** These options mean something without a value. */
  mayBeEmpty?: readonly string[];
}

/** The code of a command. It may throw: main turns that into a message and an exit code. */
export type Run<D extends { args: ArgsDef }> = (context: CommandContext<D["args"]>) => Promise<void> | void;

/** `load` imports the command's code, which help and a refused argument do not need. */
export function command<const T extends ArgsDef>(
  declared: Declared<T>,
  load: () => Promise<Run<Declared<T>>>,
): CommandDef {
  const defined: CommandDef<T> = defineCommand({
    ...declared,
    async run(context) {
      const passed = declared.passesOn ? context.rawArgs.indexOf("--") : -1;
      refuseUnknown(passed < 0 ? context.rawArgs : context.rawArgs.slice(0, passed), declared.args);
      refuseEmpty(context.args, declared);
      const run = await load();
      await run(context);
    },
  });
  // A command group does not know its commands' options.
  return defined as unknown as CommandDef;
}

function refuseUnknown(rawArgs: readonly string[], declared: ArgsDef): void {
  const known = new Set(Object.keys(declared).flatMap((name) => [name, `no-${name}`]));
  for (const argument of rawArgs) {
    const name = /^--([^=]+)/.exec(argument)?.[1];
    if (name !== undefined && !known.has(name)) throw new UsageError(`unknown option --${name}`);
  }
  const values = rawArgs.filter((argument, at) => {
    const before = /^--([^=]+)$/.exec(rawArgs[at - 1] ?? "")?.[1];
    return !argument.startsWith("-") && (before === undefined || declared[before]?.type === "boolean");
  });
  const positional = Object.values(declared).filter(({ type }) => type === "positional").length;
  if (values.length > positional) throw new UsageError(`unexpected argument ${values[positional]}`);
}

/** The value was forgotten, or is a variable that is not set: a step of a pipeline must not run then as if the option were not there. */
function refuseEmpty(
  given: Readonly<Record<string, unknown>>,
  { args, mayBeEmpty = [] }: Pick<Declared<ArgsDef>, "args" | "mayBeEmpty">,
): void {
  for (const [name, { type }] of Object.entries(args)) {
    if (type === "string" && given[name] === "" && !mayBeEmpty.includes(name))
      throw new UsageError(`--${name} is empty: give it a value, or leave it out`);
  }
}

/** The sentence for the user, and the exit code: 2 for the user's mistake, 1 for a failure. */
export function describeError(error: unknown): { message: string; exitCode: number } {
  if (error instanceof UsageError) return { message: error.message, exitCode: 2 };
  if (error instanceof Error && error.name === "CLIError") return { message: error.message, exitCode: 2 };
  const { path, syscall } = error as NodeJS.ErrnoException;
  const hasFile = syscall !== undefined && path !== undefined;
  if (hasFile) return { message: `${path} cannot be used: ${diskProblem(error, path)}.`, exitCode: 1 };
  return { message: error instanceof Error ? error.message : String(error), exitCode: 1 };
}
