/** `unity-broker token`: who may use a gateway over HTTP. */

import { ensureLocalToken } from "../../gateway/auth/local-token.js";
import type { Entry } from "../../gateway/auth/token-file.js";
import { createTokens, type Grants, type Tokens } from "../../gateway/auth/tokens.js";
import { type NameFilter, ROLES, type Role } from "../../shared/principal.js";
import { printableJson, printableValues } from "../../shared/printable.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/tokens.js";
import { grantArgs } from "../declared/tokens.js";
import { ownFolders, readSettings } from "../processes/settings.js";
import { table } from "../table.js";

// The arguments that describe a principal and its tokens.

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

const tokens = (): Tokens => createTokens(readSettings().tokensFile);

function show(principal: string, token: string, asJson: boolean): void {
  console.log(asJson ? JSON.stringify({ principal, token }) : token);
  console.error(
    `Shown this once; only its hash is kept. ${principal} sends it as: Authorization: Bearer <token>`,
  );
}

export const create: Run<typeof declared.create> = async ({ args, rawArgs }) => {
  const token = await tokens().create(args.name, grantsOf(args, rawArgs), expiryOf(args.expires, Date.now()));
  show(args.name, token, args.json);
};

export const add: Run<typeof declared.add> = async ({ args }) => {
  const expiresAt = expiryOf(args.expires, Date.now());
  if (!(await tokens().list()).some((entry) => entry.name === args.name)) throw unknown(args.name);
  show(args.name, await tokens().add(args.name, expiresAt), args.json);
};

export const set: Run<typeof declared.set> = async ({ args, rawArgs }) => {
  const grants = grantsOf(args, rawArgs);
  if (Object.keys(grants).length === 0)
    throw new UsageError(
      `nothing to change: ${Object.keys(grantArgs)
        .map((each) => `--${each}`)
        .join(", ")}`,
    );
  if (!(await tokens().grant(args.name, grants))) throw unknown(args.name);
  const entry = (await tokens().list()).find((each) => each.name === args.name);
  if (entry) console.log(`${args.name}: ${rights(entry)}`);
};

export const list: Run<typeof declared.list> = async ({ args }) => {
  const entries = await tokens().list();
  if (args.json) console.log(printableJson(entries.map(shown), 0));
  else if (entries.length === 0) console.log("No tokens yet: `unity-broker token create <name>` makes one.");
  else
    console.log(
      table(
        ["PRINCIPAL", "ROLE", "PRIORITY", "EDITORS", "TOOLS", "TOKEN", "CREATED", "EXPIRES"],
        entries.flatMap((entry) =>
          (entry.tokens.length > 0 ? entry.tokens : [undefined]).map((token) =>
            printableValues([
              entry.name,
              entry.role,
              entry.priorityClass,
              globs(entry.editors),
              globs(entry.tools),
              token?.id ?? "none",
              token?.createdAt ?? "",
              token?.expiresAt ?? "",
            ]),
          ),
        ),
      ),
    );
};

export const revoke: Run<typeof declared.revoke> = async ({ args }) => {
  if (args.token === "") throw new UsageError("--token takes the id of a token, as `token list` shows it");
  if (!(await tokens().revoke(args.name, args.token))) throw unknown(args.name, args.token);
  console.log(
    args.token === undefined
      ? `${args.name} is revoked: a later principal of this name is another. What waits in a queue of an Editor still runs.`
      : `The token ${args.token} of ${args.name} is revoked.`,
  );
};

export const local: Run<typeof declared.local> = async () => {
  const settings = readSettings();
  ownFolders(settings);
  console.log(await ensureLocalToken(settings.localTokenFile));
};

function shown({ tokens: made, id: _never, ...entry }: Entry) {
  return {
    principal: entry.name,
    role: entry.role,
    priority_class: entry.priorityClass,
    editors: entry.editors,
    tools: entry.tools,
    tokens: made.map(({ id, createdAt, expiresAt }) => ({
      id,
      created_at: createdAt,
      expires_at: expiresAt,
    })),
  };
}

function rights({ role, priorityClass, editors, tools }: Entry): string {
  return `role ${role}, ${priorityClass}, Editors ${globs(editors)}; tools ${globs(tools)}`;
}

function globs({ allow, deny }: NameFilter): string {
  if (allow.length === 0) return "none";
  return [...allow, ...deny.map((each) => `not ${each}`)].join(", ");
}

function unknown(principal: string, tokenId?: string): UsageError {
  const what =
    tokenId === undefined ? `there is no principal ${principal}` : `${principal} has no token ${tokenId}`;
  return new UsageError(`${what}; \`unity-broker token list\` shows them`);
}
