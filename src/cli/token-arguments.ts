/** What a person writes of a principal and its tokens. */
import type { Grants } from "../gateway/auth/tokens.js";
import { EVERYTHING, ROLES, type Role, type Selection } from "../shared/principal.js";
import { UsageError } from "./command.js";

export const grantArgs = {
  role: {
    type: "string",
    description: `What it may do: ${ROLES.join(", ")} (each may do what those before it may)`,
  },
  batch: { type: "boolean", description: "Work in bulk, as of CI: calls that somebody waits for go first" },
  editors: {
    type: "string",
    description: "The Editors that it may use: globs of their ids, as shop@*,game@*",
  },
  "deny-editors": { type: "string", description: "Editors that it may not use" },
  tools: {
    type: "string",
    description: "The tools that it may call: globs of their names, as run-*,compile",
  },
  "deny-tools": { type: "string", description: "Tools that it may not call" },
} as const;

export const expiresArg = {
  expires: {
    type: "string",
    description: "When the token ends: 30d, 12h, or a time as 2027-01-31T12:00:00Z",
  },
} as const;

type GrantArguments = { [name in keyof typeof grantArgs]?: string | boolean | undefined };

/** Throws UsageError. */
export function grantsOf(args: GrantArguments): Grants {
  const editors = selectionOf(args.editors, args["deny-editors"]);
  const tools = selectionOf(args.tools, args["deny-tools"]);
  return {
    ...(args.role === undefined ? {} : { role: roleOf(String(args.role)) }),
    ...(args.batch === undefined ? {} : { band: args.batch ? ("batch" as const) : ("interactive" as const) }),
    ...(editors && { editors }),
    ...(tools && { tools }),
  };
}

/** Undefined: never. Throws UsageError. */
export function expiryOf(text: string | undefined, now: number): Date | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ""] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  const at = count === undefined ? Date.parse(text) : now + Number(count) * (unit === "d" ? DAY : HOUR);
  if (Number.isNaN(at) || at <= now)
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

/** What is not written stays as it is when both are left out; one alone sets the other to its default. */
function selectionOf(
  allow: string | boolean | undefined,
  deny: string | boolean | undefined,
): Selection | undefined {
  if (allow === undefined && deny === undefined) return undefined;
  return {
    allow: typeof allow === "string" ? globsOf(allow) : EVERYTHING.allow,
    deny: typeof deny === "string" ? globsOf(deny) : EVERYTHING.deny,
  };
}

function globsOf(text: string): string[] {
  return text
    .split(",")
    .map((glob) => glob.trim())
    .filter((glob) => glob !== "");
}
