/** `unity-broker token`: who may use a gateway over HTTP. */
import { defineCommand } from "citty";
import { ensureLocalToken } from "../gateway/auth/local-token.js";
import { createTokens } from "../gateway/auth/tokens.js";
import { command, UsageError } from "./command.js";
import { printableJson, printableValues } from "./printable.js";
import { readSettings } from "./runtime.js";
import { table } from "./table.js";

const name = {
  type: "positional",
  description: "The principal, for example ci or ann",
  required: true,
} as const;
const json = { type: "boolean", description: "Machine-readable output", default: false } as const;

const create = command({
  meta: { name: "create", description: "Makes a token for a principal and shows it once" },
  args: {
    name,
    batch: {
      type: "boolean",
      description: "Work in bulk, as of CI: calls that somebody waits for go first",
      default: false,
    },
    json,
  },
  async run({ args }) {
    const band = args.batch ? "batch" : "interactive";
    const token = await createTokens(readSettings().tokensFile).create(args.name, band);
    console.log(args.json ? JSON.stringify({ principal: args.name, token }) : token);
    console.error(
      `Shown this once; only its hash is kept. ${args.name} sends it as: Authorization: Bearer <token>`,
    );
  },
});

const list = command({
  meta: { name: "list", description: "Lists the principals that have a token" },
  args: { json },
  async run({ args }) {
    const entries = (await createTokens(readSettings().tokensFile).list()).map(
      ({ principal, createdAt, band }) => ({
        principal,
        band,
        created_at: createdAt,
      }),
    );
    if (args.json) console.log(printableJson(entries, 0));
    else if (entries.length === 0)
      console.log("No tokens yet: `unity-broker token create <name>` makes one.");
    else
      console.log(
        table(
          ["PRINCIPAL", "BAND", "CREATED"],
          entries.map((entry) => printableValues([entry.principal, entry.band, entry.created_at])),
        ),
      );
  },
});

const revoke = command({
  meta: {
    name: "revoke",
    description: "Ends a principal's token; gateways refuse it from the next request on",
  },
  args: { name },
  async run({ args }) {
    if (!(await createTokens(readSettings().tokensFile).revoke(args.name)))
      throw new UsageError(`${args.name} has no token; \`unity-broker token list\` shows who has`);
    console.log(`The token of ${args.name} is revoked.`);
  },
});

const local = command({
  meta: { name: "local", description: "Shows this user's own token for the gateway of this machine" },
  async run() {
    console.log(await ensureLocalToken(readSettings().localTokenFile));
  },
});

export const token = defineCommand({
  meta: { name: "token", description: "Tokens of the HTTP gateway: create, list, revoke, local" },
  subCommands: { create, list, revoke, local },
});
