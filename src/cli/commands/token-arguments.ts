/** The arguments that describe a principal and its tokens. */
import type { Grants } from "../../gateway/auth/tokens.js";
import { type NameFilter, ROLES, type Role } from "../../shared/principal.js";
import { UsageError } from "../command.js";
import type { grantArgs } from "../declared/tokens.js";

type GrantArguments = { [name in keyof typeof grantArgs]?: string | boolean | undefined };

/** Throws UsageError. `rawArgs`: as typed, because the parser would drop the first of a repeated option. */
export function grantsOf(args: GrantArguments, rawArgs: readonly string[]): Grants {
  const options = rawArgs.flatMap((argument) => /^--([^=]+)/.exec(argument)?.[1] ?? []);
  const twice = options.find((option, at) => options.indexOf(option) !== at);
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice`);
  const editors = selectionOf(args, "editors");
  const tools = selectionOf(args, "tools");
  return {
    ...(args.role === undefined ? {} : { role: roleOf(String(args.role)) }),
    ...(args.batch === undefined
      ? {}
      : { priorityClass: args.batch ? ("batch" as const) : ("interactive" as const) }),
    ...(editors && { editors }),
    ...(tools && { tools }),
  };
}

/** Undefined: never. Throws UsageError. */
export function expiryOf(text: string | undefined, now: number): Date | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ""] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  const at = count === undefined ? Date.parse(text) : now + Number(count) * (unit === "d" ? DAY : HOUR);
  // Date would turn a day that does not exist into one of the next month.
  const isDay =
    count !== undefined || Number.isNaN(at) || new Date(at).toISOString().startsWith(text.slice(0, 10));
  if (Number.isNaN(at) || at <= now || !isDay)
    throw new UsageError(`--expires ${text} is not a time to come: 30d, 12h, or a date`);
  return new Date(at);
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function roleOf(text: string): Role {
  const role = ROLES.find((each) => each === text);
  if (!role) throw new UsageError(`--role ${text} is none of ${ROLES.join(", ")}`);
  return role;
}

/** An omitted field stays unchanged. */
function selectionOf(args: GrantArguments, kind: "editors" | "tools"): Partial<NameFilter> | undefined {
  const allow = globsOf(args, kind);
  const deny = globsOf(args, `deny-${kind}`);
  return allow || deny ? { ...(allow && { allow }), ...(deny && { deny }) } : undefined;
}

/** `none`: no name. Any other empty value is a mistake, and grants nothing. */
function globsOf(args: GrantArguments, option: keyof typeof grantArgs): string[] | undefined {
  const text = args[option];
  if (text === undefined) return undefined;
  if (text === "none") return [];
  // A comma inside braces belongs to the glob.
  const globs = String(text === true ? "" : text)
    .split(/,(?![^{]*\})/)
    .map((glob) => glob.trim());
  if (globs.includes("")) throw new UsageError(`--${option} takes globs, as run-*,compile, or none`);
  return globs;
}
