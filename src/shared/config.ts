/**
 * The configuration: one schema, read once at the edge into a frozen value. docs/reference/configuration.md is generated
 * from it.
 */
import { z } from "zod";
import { ANSWER_FORMS } from "./answer-forms.js";
import { isRedisUrl, NO_REDIS_URL } from "./redis-url.js";
import type { SettingName } from "./setting-names.js";
import { executionClasses, namedEditors, paths, resources } from "./setting-values.js";
import { classRules, editorRules, toolRules } from "./tools/call-rule-settings.js";
import { IF_AWAY, TOOL_LIMITS } from "./tools/call-rules.js";
import { WAITS } from "./wait-time.js";

const hours = (count: number) => z.coerce.number().positive().default(count);
const count = (standard: number) => z.coerce.number().int().positive().default(standard);
const ms = count;

export const CONFIG = {
  UNITY_BROKER_CONFIG: z
    .string()
    .optional()
    .describe(
      "A configuration file, YAML or JSON, as `--config` names one; variables take precedence over it",
    ),
  REDIS_URL: z
    .string()
    .refine(isRedisUrl, `it ${NO_REDIS_URL}`)
    .optional()
    .describe(
      "Redis or Valkey to use (`redis://`, `rediss://`, or `redis+sentinel://host1,host2/master`); without it, a private server is started",
    ),
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
    .describe(
      "A background broker and a private Redis that are unused for this long end; the data is kept. 0: never",
    ),
  UNITY_BROKER_BACKGROUND: z
    .stringbool()
    .default(true)
    .describe(
      "Clients and commands share a broker in the background; `false`: each serves itself in its own process",
    ),
  UNITY_BROKER_DATA_DIR: z
    .string()
    .optional()
    .describe(
      "Where the private Redis, this user's token and debug logs are kept (default: `~/.local/share/unity-job-broker`; macOS: `~/Library/Application Support/unity-job-broker`; Windows: `%LOCALAPPDATA%\\unity-job-broker\\data`)",
    ),
  UNITY_BROKER_CACHE_DIR: z.string().optional().describe("Where a downloaded Redis binary is kept"),
  UNITY_BROKER_EDITORS_DIR: z
    .string()
    .optional()
    .describe("Where Unity Editors write their endpoint files (default `~/.unity-job-broker/editors`)"),
  UNITY_BROKER_EDITORS: namedEditors.describe(
    "Editors with a plain uLoop bridge, separated by commas: project folders, or `name=host:port`",
  ),
  UNITY_BROKER_UNITY_MCP: z
    .stringbool()
    .default(false)
    .describe(
      "Drive the Editors whose bridge is MCP for Unity (unity-mcp), found by its status files; its own server must not run beside the broker",
    ),
  UNITY_MCP_STATUS_DIR: z
    .string()
    .optional()
    .describe(
      "Where MCP for Unity writes its status files, as it reads this variable itself (default `~/.unity-mcp`)",
    ),
  UNITY_BROKER_EDITOR_LOGS: paths.describe(
    "Log files of Unity Editors outside Unity's own folders, separated by commas: full paths of files, or of folders with `.log` files",
  ),
  UNITY_BROKER_UNITY: z
    .string()
    .optional()
    .describe(
      "Where `unity-broker launch` finds Unity, beside the Unity Hub's folders: an executable, an installation, or a folder of installations",
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
    "The HTTP gateway drops a session from memory when it is unused for this long; Redis keeps it",
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
    .describe("Days of audit log to keep in `audit/` in the data directory; 0: no audit log"),
  UNITY_BROKER_ORIGIN_KEY_FILE: z
    .string()
    .optional()
    .describe(
      "The key that signs the recovery data in Editors' ledgers (default: `origin.key` in the data directory); the same on all machines of a store",
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
    .describe("The log level; logs go to stderr"),
  MCP_DEBUG: z
    .string()
    .optional()
    .describe("`1`: everything is also logged to `logs/` in the data directory; a path: to that folder"),
  UNITY_BROKER_RETENTION_HOURS: hours(24).describe("How long an ended operation and its result are kept"),
  UNITY_BROKER_REPLAY_MINUTES: hours(15).describe(
    "How long a delivered outcome answers identical calls of callers that have not read it",
  ),
  UNITY_BROKER_ABSENT_MINUTES: hours(10).describe(
    "An operation that was not sent expires once its Editor has been away for this long",
  ),
  UNITY_BROKER_UNSENT_HOURS: hours(12).describe("… or this long after it was accepted"),
  UNITY_BROKER_ANSWERS: z
    .enum(ANSWER_FORMS)
    .default("short")
    .describe(
      "MCP clients are answered in the form for a model, `short`, or with every field, also as structured content: `full`",
    ),
  UNITY_BROKER_ANSWER_LIMIT: z.coerce
    .number()
    .int()
    .min(4_000)
    .optional()
    .describe(
      "Most bytes of one answer to an MCP client; without it, what the client is known to take, else 50 000 (docs/reference/answer-sizes.md)",
    ),
  UNITY_BROKER_WAIT: z.coerce
    .number()
    .min(0)
    .default(WAITS.standardSeconds)
    .describe("How many seconds a call waits for its outcome, if it does not say"),
  UNITY_BROKER_MAX_WAIT: z.coerce
    .number()
    .positive()
    .default(WAITS.mostSeconds)
    .describe(
      "… and how many at most. A client that is known to give up earlier, or is not known, is answered 10 s before it does",
    ),
  UNITY_BROKER_IF_AWAY: z
    .enum(IF_AWAY)
    .default("wait")
    .describe(
      "A call whose Editor is not connected waits for it, or is refused at once (`EDITOR_AWAY`); a call's own `if_away` takes precedence",
    ),
  UNITY_BROKER_MAX_RUNNING: count(5).describe(
    "Most operations of one principal running at once, over all Editors",
  ),
  UNITY_BROKER_RESOURCES: resources.describe(
    "Labels of which only so many operations run at once, over all Editors that have them: `licence=3,gpu=1`; the same in all processes of a store",
  ),
  UNITY_BROKER_MAX_QUEUED: count(100).describe(
    "Most operations of one principal waiting; further calls are refused",
  ),
  UNITY_BROKER_MAX_IN_QUEUE: count(1_000).describe(
    "Most open operations of all principals for one Editor, or for one pool; further calls are refused",
  ),
  UNITY_BROKER_MAX_RESULT_TOKENS: count(20_000).describe(
    "A result with more (estimated) tokens is stored, answered by a preview, and read in parts",
  ),
  UNITY_BROKER_RESULTS_BUDGET_MB: count(1_024).describe(
    "Most memory of all stored results in Redis; beyond it new calls are refused, and no result is removed",
  ),
  UNITY_BROKER_ARGUMENTS_BUDGET_MB: count(256).describe(
    "Most memory of all stored arguments; beyond it new calls are refused, and none are removed",
  ),
  UNITY_BROKER_PRINCIPAL_SHARE: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(75)
    .describe(
      "The share of what others leave of each of these two budgets that one principal may hold, in per cent",
    ),
  UNITY_BROKER_PARTS_BUDGET_MB: count(256).describe(
    "Most memory of filtered results; beyond it the least recently used are removed",
  ),
  UNITY_BROKER_MAX_RESULT_MB: count(256).describe(
    "The JSON of one result; an operation whose result is larger ends as failed (`result_too_large`), without it",
  ),
  UNITY_BROKER_PARTIALS_BUDGET_MB: count(64).describe(
    "Most memory of all partial results and Console lines of running operations; beyond it the oldest are dropped and reported as truncated",
  ),
  UNITY_BROKER_MAX_TOOLS: count(TOOL_LIMITS.tools).describe(
    "Most tools offered of one Editor; further ones are left out, and the Editor's diagnosis says so",
  ),
  UNITY_BROKER_TOOL_LIST_KB: count(TOOL_LIMITS.listCharacters / 1000).describe(
    "… and most memory of the descriptions and schemas of one Editor's tools",
  ),
  UNITY_BROKER_EXECUTION_CLASSES: executionClasses.describe(
    "How long tools without a declared duration usually take: `name=quick`, `medium` (5 min) or `long` (1 h), separated by commas",
  ),
  UNITY_BROKER_CLASS_RULES: classRules.describe(
    'What each class of calls means, as JSON: `{"long": {"max_execution_time": 7200}}`',
  ),
  UNITY_BROKER_TOOL_RULES: toolRules.describe(
    "What holds for the calls of some tools, as JSON, by their names or patterns of these",
  ),
  UNITY_BROKER_EDITOR_RULES: editorRules.describe(
    "What holds for the calls on some Editors, as JSON, by their projects, ids, or patterns of these",
  ),
  UNITY_BROKER_CANCEL_OVERDUE: z
    .stringbool()
    .default(false)
    .describe("Ask the Editor to cancel an operation that runs longer than its class"),
  UNITY_BROKER_CONFIRM_DESTRUCTIVE: z
    .stringbool()
    .default(false)
    .describe("Ask the user before a destructive tool runs, if the MCP client supports elicitation"),
  UNITY_BROKER_LEASE_MS: ms(20_000).describe(
    "A worker that is silent for this long loses its Editors to another",
  ),
  UNITY_BROKER_JOB_LOCK_MS: ms(30_000).describe("… and its jobs after this long"),
  UNITY_BROKER_ACK_DELAY_MS: ms(2_000).describe(
    "How long an outcome is stored before the Editor may forget it",
  ),
  UNITY_BROKER_SWEEP_MS: ms(5_000).describe("How often the janitor checks waiting operations"),
  UNITY_BROKER_SAFETY_POLL_MS: ms(5_000).describe(
    "How often a wait reads the store without a message; messages wake it earlier",
  ),
} as const satisfies Record<SettingName, z.ZodType>;

const Config = z.object(CONFIG);
export type Config = Readonly<z.infer<typeof Config>>;

/** Reads the environment; throws a ZodError that names each wrong variable. An empty value counts as not set. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const set = Object.entries(env).filter(
    ([name, value]) => name in CONFIG && value !== "" && value !== undefined,
  );
  return Object.freeze(Config.parse(Object.fromEntries(set)));
}
