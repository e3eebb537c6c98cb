/** The settings, for what does not load their schema (config.ts): their variables, and their keys in a configuration file. */

/**
 * How a file may write a value that a variable has as text. `path`: a relative one is beside the file. `list`: between commas.
 * `pairs`: `name=value` between commas. `json`: a mapping, as JSON.
 */
export type SettingForm = "text" | "path" | "list" | "pairs" | "json";

const SETTING_KEYS = {
  REDIS_URL: ["redis.url", "text"],
  REDIS_PASSWORD_FILE: ["redis.password_file", "path"],
  UNITY_BROKER_REDIS_BINARY: ["redis.binary", "text"],
  UNITY_BROKER_REDIS_IDLE_MINUTES: ["redis.idle_minutes", "text"],
  UNITY_BROKER_BACKGROUND: ["broker.background", "text"],
  UNITY_BROKER_DATA_DIR: ["folders.data", "path"],
  UNITY_BROKER_CACHE_DIR: ["folders.cache", "path"],
  UNITY_BROKER_EDITORS_DIR: ["folders.editors", "path"],
  UNITY_BROKER_EDITORS: ["bridges.uloop", "list"],
  UNITY_BROKER_UNITY_MCP: ["bridges.unity_mcp", "text"],
  UNITY_MCP_STATUS_DIR: ["bridges.unity_mcp_folder", "path"],
  UNITY_BROKER_EDITOR_LOGS: ["unity.editor_logs", "list"],
  UNITY_BROKER_UNITY: ["unity.installation", "path"],
  UNITY_BROKER_HOST: ["gateway.host", "text"],
  UNITY_BROKER_PORT: ["gateway.port", "text"],
  UNITY_BROKER_SESSION_IDLE_MINUTES: ["gateway.session_idle_minutes", "text"],
  UNITY_BROKER_TOKENS_FILE: ["gateway.tokens_file", "path"],
  UNITY_BROKER_AUDIT_DAYS: ["gateway.audit_days", "text"],
  UNITY_BROKER_ORIGIN_KEY_FILE: ["broker.origin_key_file", "path"],
  UNITY_BROKER_TOKEN: ["client.token", "text"],
  UNITY_BROKER_URL: ["client.url", "text"],
  UNITY_BROKER_LOG_LEVEL: ["log.level", "text"],
  MCP_DEBUG: ["log.debug", "text"],
  UNITY_BROKER_RETENTION_HOURS: ["retention.hours", "text"],
  UNITY_BROKER_REPLAY_MINUTES: ["retention.replay_minutes", "text"],
  UNITY_BROKER_ABSENT_MINUTES: ["expiry.absent_minutes", "text"],
  UNITY_BROKER_UNSENT_HOURS: ["expiry.unsent_hours", "text"],
  UNITY_BROKER_ANSWERS: ["mcp.answers", "text"],
  UNITY_BROKER_ANSWER_LIMIT: ["mcp.answer_bytes", "text"],
  UNITY_BROKER_WAIT: ["calls.wait_seconds", "text"],
  UNITY_BROKER_MAX_WAIT: ["calls.max_wait_seconds", "text"],
  UNITY_BROKER_IF_AWAY: ["calls.if_away", "text"],
  UNITY_BROKER_MAX_RUNNING: ["limits.running", "text"],
  UNITY_BROKER_RESOURCES: ["limits.resources", "pairs"],
  UNITY_BROKER_MAX_QUEUED: ["limits.queued", "text"],
  UNITY_BROKER_MAX_IN_QUEUE: ["limits.in_queue", "text"],
  UNITY_BROKER_MAX_RESULT_TOKENS: ["limits.result_tokens", "text"],
  UNITY_BROKER_RESULTS_BUDGET_MB: ["limits.results_mb", "text"],
  UNITY_BROKER_ARGUMENTS_BUDGET_MB: ["limits.arguments_mb", "text"],
  UNITY_BROKER_PRINCIPAL_SHARE: ["limits.principal_share", "text"],
  UNITY_BROKER_PARTS_BUDGET_MB: ["limits.filtered_results_mb", "text"],
  UNITY_BROKER_MAX_RESULT_MB: ["limits.result_mb", "text"],
  UNITY_BROKER_PARTIALS_BUDGET_MB: ["limits.partial_results_mb", "text"],
  UNITY_BROKER_MAX_TOOLS: ["limits.tools", "text"],
  UNITY_BROKER_TOOL_LIST_KB: ["limits.tool_list_kb", "text"],
  UNITY_BROKER_EXECUTION_CLASSES: ["calls.execution_classes", "pairs"],
  UNITY_BROKER_CLASS_RULES: ["classes", "json"],
  UNITY_BROKER_TOOL_RULES: ["tools", "json"],
  UNITY_BROKER_EDITOR_RULES: ["editors", "json"],
  UNITY_BROKER_CANCEL_OVERDUE: ["calls.cancel_overdue", "text"],
  UNITY_BROKER_CONFIRM_DESTRUCTIVE: ["calls.confirm_destructive", "text"],
  UNITY_BROKER_LEASE_MS: ["timing.lease_ms", "text"],
  UNITY_BROKER_JOB_LOCK_MS: ["timing.job_lock_ms", "text"],
  UNITY_BROKER_ACK_DELAY_MS: ["timing.ack_delay_ms", "text"],
  UNITY_BROKER_SWEEP_MS: ["timing.sweep_ms", "text"],
  UNITY_BROKER_SAFETY_POLL_MS: ["timing.safety_poll_ms", "text"],
} as const satisfies Record<string, readonly [key: string, form: SettingForm]>;

/** The file itself. */
export const CONFIG_FILE = "UNITY_BROKER_CONFIG";

/** A setting that a file may have. */
export type FileSetting = keyof typeof SETTING_KEYS;
export type SettingName = FileSetting | typeof CONFIG_FILE;

export const FILE_SETTINGS = Object.keys(SETTING_KEYS) as FileSetting[];
export const SETTING_NAMES: readonly SettingName[] = [CONFIG_FILE, ...FILE_SETTINGS];

export function keyOf(name: FileSetting): string {
  return SETTING_KEYS[name][0];
}

export function formOf(name: FileSetting): SettingForm {
  return SETTING_KEYS[name][1];
}
