/** The declared arguments of the commands for principals and their tokens. */
import { ROLES } from "../../shared/principal.js";

const name = {
  type: "positional",
  description: "The principal, for example ci or ann",
  required: true,
} as const;
const json = { type: "boolean", description: "Machine-readable output", default: false } as const;

export const grantArgs = {
  role: {
    type: "string",
    description: `What it may do: ${ROLES.join(", ")} (each may do what those before it may)`,
  },
  batch: { type: "boolean", description: "Work in bulk, as of CI: calls that somebody waits for go first" },
  editors: {
    type: "string",
    description: "The Editors that it may use: globs of their ids, as shop@*,game@*; none",
  },
  "deny-editors": { type: "string", description: "Editors that it may not use" },
  tools: {
    type: "string",
    description: "The tools that it may call: globs of their names, as run-*,compile",
  },
  "deny-tools": { type: "string", description: "Tools that it may not call" },
} as const;

const expires = {
  type: "string",
  description: "When the token ends: 30d, 12h, or a time as 2027-01-31T12:00:00Z",
} as const;

export const token = {
  meta: { name: "token", description: "Who may use the HTTP gateway: create, add, set, list, revoke, local" },
} as const;

export const create = {
  meta: { name: "create", description: "Makes a principal, and shows its token once" },
  args: { name, ...grantArgs, expires, json },
} as const;

export const add = {
  meta: { name: "add", description: "Makes a further token for a principal, to replace one without a pause" },
  args: { name, expires, json },
} as const;

export const set = {
  meta: { name: "set", description: "Changes what a principal may do, from its next request on" },
  args: { name, ...grantArgs },
} as const;

export const list = {
  meta: { name: "list", description: "Lists the principals, what they may do, and their tokens" },
  args: { json },
} as const;

export const revoke = {
  meta: {
    name: "revoke",
    description:
      "Ends a principal, or one of its tokens; gateways refuse it at once and end what it has open",
  },
  args: { name, token: { type: "string", description: "Only this token, by its id in `token list`" } },
} as const;

export const local = {
  meta: { name: "local", description: "Shows this user's own token for the gateway of this machine" },
  args: {},
} as const;
