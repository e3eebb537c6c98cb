/** The configuration as the gateway and the worker take it. */
import { GATEWAY_DEFAULTS, type GatewayOptions } from "../../gateway/gateway.js";
import type { Config } from "../../shared/config.js";
import { REPLAY_DEFAULTS } from "../../shared/operation/again.js";
import { EXPIRY_LIMITS } from "../../shared/operation/expiry.js";
import { createCallRules, TOOL_LIMITS, type ToolLimits } from "../../shared/tools/call-rules.js";
import type { WaitLimits } from "../../shared/wait-time.js";
import { unityLogPlaces } from "../../worker/owner/log-places.js";
import { WORKER_DEFAULTS, type WorkerOptions } from "../../worker/worker.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MB = 1024 * 1024;

function toolLimits(config: Config): ToolLimits {
  return {
    ...TOOL_LIMITS,
    tools: config.UNITY_BROKER_MAX_TOOLS,
    listCharacters: config.UNITY_BROKER_TOOL_LIST_KB * 1000,
  };
}

export function waitLimits(config: Config): WaitLimits {
  return { standardSeconds: config.UNITY_BROKER_WAIT, mostSeconds: config.UNITY_BROKER_MAX_WAIT };
}

export function gatewayOptions(config: Config): GatewayOptions {
  return {
    ...GATEWAY_DEFAULTS,
    replay: { ...REPLAY_DEFAULTS, replayWindowMs: config.UNITY_BROKER_REPLAY_MINUTES * MINUTE },
    limits: {
      ...EXPIRY_LIMITS,
      absentMs: config.UNITY_BROKER_ABSENT_MINUTES * MINUTE,
      unsentMs: config.UNITY_BROKER_UNSENT_HOURS * HOUR,
    },
    maxResultTokens: config.UNITY_BROKER_MAX_RESULT_TOKENS,
    executionClasses: config.UNITY_BROKER_EXECUTION_CLASSES,
    rules: createCallRules({
      classes: config.UNITY_BROKER_CLASS_RULES,
      tools: config.UNITY_BROKER_TOOL_RULES,
      editors: config.UNITY_BROKER_EDITOR_RULES,
    }),
    cancelOverdue: config.UNITY_BROKER_CANCEL_OVERDUE,
    confirmsDestructive: config.UNITY_BROKER_CONFIRM_DESTRUCTIVE,
    ifAway: config.UNITY_BROKER_IF_AWAY,
    answers: config.UNITY_BROKER_ANSWERS,
    answerLimitBytes: config.UNITY_BROKER_ANSWER_LIMIT,
    waits: waitLimits(config),
    safetyPollMs: config.UNITY_BROKER_SAFETY_POLL_MS,
    sweepMs: config.UNITY_BROKER_SWEEP_MS,
    // By then no record is left that a call without a target could mean.
    forgetEditorMs: config.UNITY_BROKER_RETENTION_HOURS * HOUR,
    lastCatalogs: { ...GATEWAY_DEFAULTS.lastCatalogs, tools: toolLimits(config) },
  };
}

export function workerOptions(config: Config): WorkerOptions {
  const leaseMs = config.UNITY_BROKER_LEASE_MS;
  const lockMs = config.UNITY_BROKER_JOB_LOCK_MS;
  return {
    ...WORKER_DEFAULTS,
    replay: gatewayOptions(config).replay,
    lease: { ttlMs: leaseMs, renewMs: Math.ceil(leaseMs / 3) },
    jobLockMs: lockMs,
    stalledCheckMs: lockMs,
    ackDelayMs: config.UNITY_BROKER_ACK_DELAY_MS,
    maxResultBytes: config.UNITY_BROKER_MAX_RESULT_MB * MB,
    logPlaces: unityLogPlaces(config.UNITY_BROKER_EDITOR_LOGS),
    tools: toolLimits(config),
  };
}
