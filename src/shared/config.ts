/** The configuration: one schema, read once at the edge into a frozen value. The README's table is made from it. */
import { z } from "zod";
import { EXECUTION_CLASSES } from "./tool.js";
import { TOOL_LIMITS } from "./tool-limits.js";

const hours = (count: number) => z.coerce.number().positive().default(count);
const count = (standard: number) => z.coerce.number().int().positive().default(standard);
const ms = count;

const executionClasses = z
  .string()
  .default("")
  .transform((text, context) => {
    const entries = text
      .split(",")
      .filter((entry) => entry.trim() !== "")
      .map((entry) => entry.split("=").map((part) => part.trim()));
    const classes = z.record(z.string(), z.enum(EXECUTION_CLASSES)).safeParse(Object.fromEntries(entries));
    if (classes.success) return classes.data;
    context.addIssue("name=quick, name=medium or name=long, by commas");
    return z.NEVER;
  });

/** An Editor without a bridge of ours: its project folder, or its address. */
export type NamedEditor = { project: string } | { name?: string; host: string; port: number };

const FULL_PATH = /^([a-zA-Z]:)?[\\/]/;
const ADDRESS = /^(?:([\w. -]+)=)?(?:([\w.-]+):)?(\d{1,5})$/;

const namedEditors = z
  .string()
  .default("")
  .transform((text, context) => {
    const entries = text.split(",").map((entry) => entry.trim());
    return entries.filter(Boolean).flatMap((entry): NamedEditor[] => {
      const [, name, host = "127.0.0.1", port] = ADDRESS.exec(entry) ?? [];
      if (Number(port) > 0 && Number(port) < 65_536) {
        return [{ ...(name === undefined ? {} : { name }), host, port: Number(port) }];
      }
      if (FULL_PATH.test(entry)) return [{ project: entry }];
      context.addIssue(`"${entry}" is neither host:port nor the full path of a project`);
      return [];
    });
  });

const paths = z
  .string()
  .default("")
  .transform((text, context) => {
    const entries = text
      .split(",")
      .map((entry) => entry.trim())
      .filter(Boolean);
    for (const entry of entries)
      if (!FULL_PATH.test(entry)) context.addIssue(`"${entry}" is not a full path`);
    return entries;
  });

export const CONFIG = {
  REDIS_URL: z
    .string()
    .optional()
    .describe("Redis or Valkey to use; without it, a private server is started"),
  REDIS_PASSWORD_FILE: z
    .string()
    .optional()
    .describe("A file with the password for `REDIS_URL`, which then holds none; as Docker hands out secrets"),
  UNITY_BROKER_REDIS_BINARY: z
    .string()
    .optional()
    .describe("The redis-server, valkey-server or memurai to start privately"),
  UNITY_BROKER_REDIS_IDLE_MINUTES: z.coerce
    .number()
    .min(0)
    .default(30)
    .describe("A private Redis that nobody used for this long ends, its data stays; 0: never"),
  UNITY_BROKER_DATA_DIR: z
    .string()
    .optional()
    .describe("Where the private Redis, this user's token and debug logs are kept"),
  UNITY_BROKER_CACHE_DIR: z.string().optional().describe("Where an obtained Redis binary is kept"),
  UNITY_BROKER_EDITORS_DIR: z
    .string()
    .optional()
    .describe("Where Unity Editors write their endpoint files (default `~/.unity-job-broker/editors`)"),
  UNITY_BROKER_EDITORS: namedEditors.describe(
    "Editors with a plain uLoop bridge, by commas: project folders, or `name=host:port`",
  ),
  UNITY_BROKER_EDITOR_LOGS: paths.describe(
    "Log files of Unity Editors beside Unity's own places, by commas: full paths of files, or of folders with `.log` files",
  ),
  UNITY_BROKER_HOST: z
    .string()
    .default("127.0.0.1")
    .describe("Address of the HTTP gateway; anything but loopback needs tokens"),
  UNITY_BROKER_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(8787)
    .describe("Port of the HTTP gateway"),
  UNITY_BROKER_SESSION_IDLE_MINUTES: hours(30).describe(
    "A session of the HTTP gateway that is not used for this long leaves its memory; Redis still knows it",
  ),
  UNITY_BROKER_TOKENS_FILE: z
    .string()
    .optional()
    .describe("The gateway's tokens, hashed (default: `tokens.json` in the data directory)"),
  UNITY_BROKER_AUDIT_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3650)
    .default(90)
    .describe(
      "How many days of the audit log are kept in `audit/` in the data directory; 0: none is written",
    ),
  UNITY_BROKER_ORIGIN_KEY_FILE: z
    .string()
    .optional()
    .describe(
      "The key that signs what Editors keep of operations (default: `origin.key` in the data directory); the same on all machines of a store",
    ),
  UNITY_BROKER_TOKEN: z
    .string()
    .optional()
    .describe("The token of the command line: with it, calls go through the gateway"),
  UNITY_BROKER_URL: z
    .url({ protocol: /^https?$/, error: "expected an address such as http://127.0.0.1:8787/mcp" })
    .optional()
    .describe("The gateway of the command line (default: the host and port above)"),
  UNITY_BROKER_LOG_LEVEL: z
    .enum(["silent", "error", "warn", "info", "debug"])
    .default("info")
    .describe("How much is logged, to stderr"),
  MCP_DEBUG: z
    .string()
    .optional()
    .describe("`1`: everything is also logged to `logs/` in the data directory; a path: to that folder"),
  UNITY_BROKER_RETENTION_HOURS: hours(24).describe("How long an ended operation and its result are kept"),
  UNITY_BROKER_REPLAY_MINUTES: hours(15).describe(
    "How long a delivered outcome answers identical calls of callers that did not confirm it",
  ),
  UNITY_BROKER_ABSENT_MINUTES: hours(10).describe(
    "An operation that was not sent expires when its Editor was away for this long",
  ),
  UNITY_BROKER_UNSENT_HOURS: hours(12).describe("… or this long after it was accepted"),
  UNITY_BROKER_MAX_RUNNING: count(5).describe(
    "Operations of one principal that run at once, over all Editors",
  ),
  UNITY_BROKER_MAX_QUEUED: count(100).describe(
    "Operations of one principal that may wait; further calls are refused",
  ),
  UNITY_BROKER_MAX_RESULT_TOKENS: count(20_000).describe(
    "A result of more tokens (estimated) is kept and answered by a preview; it is read in part",
  ),
  UNITY_BROKER_RESULTS_BUDGET_MB: count(1_024).describe(
    "What all kept results may take in Redis; beyond it new calls are refused, and none is removed",
  ),
  UNITY_BROKER_ARGUMENTS_BUDGET_MB: count(256).describe(
    "What the arguments of kept operations may take; beyond it new calls are refused, and none is removed",
  ),
  UNITY_BROKER_PRINCIPAL_SHARE: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(75)
    .describe(
      "Of each of these two budgets one principal may hold at most this part of what the others leave, in per cent",
    ),
  UNITY_BROKER_PARTS_BUDGET_MB: count(256).describe(
    "What the parts may take that callers filtered out of results; the least recently used give way",
  ),
  UNITY_BROKER_MAX_RESULT_MB: count(256).describe(
    "The JSON of one result; an operation whose result is larger ends as failed (`result_too_large`), without it",
  ),
  UNITY_BROKER_PARTIALS_BUDGET_MB: count(64).describe(
    "What all partial results of running operations may take; beyond it the oldest give way, and are told as truncated",
  ),
  UNITY_BROKER_MAX_TOOLS: count(TOOL_LIMITS.tools).describe(
    "Tools of one Editor that are offered; what its list has beyond them is left out, and said",
  ),
  UNITY_BROKER_TOOL_LIST_KB: count(TOOL_LIMITS.listCharacters / 1000).describe(
    "… and how long the descriptions and schemas of one Editor's tools may be together",
  ),
  UNITY_BROKER_EXECUTION_CLASSES: executionClasses.describe(
    "How long tools that do not say so usually take: `name=quick`, `medium` (5 min) or `long` (1 h), by commas",
  ),
  UNITY_BROKER_CANCEL_OVERDUE: z
    .stringbool()
    .default(false)
    .describe("Ask the Editor to cancel what runs longer than its class"),
  UNITY_BROKER_CONFIRM_DESTRUCTIVE: z
    .stringbool()
    .default(false)
    .describe("Ask the user before a destructive tool runs, where the MCP client can ask (elicitation)"),
  UNITY_BROKER_LEASE_MS: ms(5_000).describe(
    "A worker that is silent for this long loses its Editors to another",
  ),
  UNITY_BROKER_JOB_LOCK_MS: ms(15_000).describe("… and its jobs after this long"),
  UNITY_BROKER_ACK_DELAY_MS: ms(2_000).describe(
    "How long a stored outcome rests before the Editor may forget it",
  ),
  UNITY_BROKER_SWEEP_MS: ms(5_000).describe("How often waiting operations are looked after"),
  UNITY_BROKER_SAFETY_POLL_MS: ms(5_000).describe(
    "How often a wait looks by itself; waits are woken by messages",
  ),
} as const;

const Config = z.object(CONFIG);
export type Config = Readonly<z.infer<typeof Config>>;

/** Reads the environment; throws a ZodError that names each variable that is wrong. Empty means not set. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const set = Object.entries(env).filter(
    ([name, value]) => name in CONFIG && value !== "" && value !== undefined,
  );
  return Object.freeze(Config.parse(Object.fromEntries(set)));
}
