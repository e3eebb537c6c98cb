/** How a command is declared: citty's definition, with unknown options refused and errors told in one sentence. */
import { type ArgsDef, type CommandDef, defineCommand } from "citty";
import { z } from "zod";

/** The user's mistake, as opposed to a failure: exit code 2. */
export class UsageError extends Error {}

/** A command whose run may throw: main turns that into a message and an exit code. */
export function command<T extends ArgsDef>(definition: CommandDef<T>): CommandDef {
  const { run } = definition;
  const defined: CommandDef<T> = defineCommand({
    ...definition,
    async run(context) {
      const declared = await (typeof definition.args === "function" ? definition.args() : definition.args);
      refuseUnknown(context.rawArgs, (await declared) ?? {});
      await run?.(context);
    },
  });
  // Whoever runs commands knows none of their options.
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

/** The one sentence that a person reads, and the exit code: 2 for the user's mistake, 1 for a failure. */
export function explain(error: unknown): { message: string; exitCode: number } {
  if (error instanceof UsageError) return { message: error.message, exitCode: 2 };
  if (error instanceof z.ZodError)
    return { message: `Configuration: ${z.prettifyError(error)}`, exitCode: 2 };
  if (error instanceof Error && error.name === "CLIError") return { message: error.message, exitCode: 2 };
  return { message: error instanceof Error ? error.message : String(error), exitCode: 1 };
}
