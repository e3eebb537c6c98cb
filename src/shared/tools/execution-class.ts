/**
 * How long a call usually takes. An operation that runs longer than its class is overdue: that is shown, but nothing is
 * ended or run again for it.
 */
import type { JsonObject } from "../operation/idempotency.js";
import type { OperationRecord } from "../operation/operation.js";
import { EXECUTION_CLASSES, type ExecutionClass } from "./tool.js";

/** The longest usual time, ms. */
export const CLASS_MS: Readonly<Record<ExecutionClass, number>> = {
  quick: 30_000,
  medium: 300_000,
  long: 3_600_000,
};

/** Fewer recorded durations than this are ignored. */
const ENOUGH = 5;
/** On a busy machine a call may take twice its usual time. */
const MARGIN = 2;

const QUICK_WORDS = new Set(["get", "find", "list", "search", "ping", "status"]);
const LONG_WORDS =
  /^(download|upload|backup|sync|process|analy[sz]e|generate|compile|build|train|convert|tests?|bake)/;

/** Pure. The first source that knows: a rule for the tool, the tool itself, configuration, recorded durations, name, arguments. */
export function executionClassOf(call: {
  tool: string;
  /** By a rule of the configuration (call-rules.ts). */
  ruled?: ExecutionClass | undefined;
  /** From the tool's own description. */
  given?: ExecutionClass | undefined;
  configured?: ExecutionClass | undefined;
  /** How long the tool's recent calls took, ms. */
  recordedMs: readonly number[];
  classMs?: Readonly<Record<ExecutionClass, number>>;
  arguments: JsonObject;
}): ExecutionClass {
  return (
    call.ruled ??
    call.given ??
    call.configured ??
    byDurations(call.recordedMs, call.classMs ?? CLASS_MS) ??
    byName(call.tool) ??
    byArguments(call.arguments) ??
    "medium"
  );
}

/** How long such a call usually takes at most, ms: as configured when it was accepted, else what its class says. */
export function mostExecutionMs({
  maxExecutionMs,
  executionClass = "long",
}: Pick<OperationRecord, "maxExecutionMs" | "executionClass">): number {
  return maxExecutionMs ?? CLASS_MS[executionClass];
}

/** How long an operation has run past its usual time, ms; undefined if it has not, or is not running. Store clock. */
export function overdueBy(record: OperationRecord, now: number): number | undefined {
  if (record.state !== "running" || record.startedAt === undefined) return undefined;
  const over = now - record.startedAt - mostExecutionMs(record);
  return over > 0 ? over : undefined;
}

/** The class of the 95th percentile, with a margin. */
function byDurations(
  recordedMs: readonly number[],
  classMs: Readonly<Record<ExecutionClass, number>>,
): ExecutionClass | undefined {
  if (recordedMs.length < ENOUGH) return undefined;
  const sorted = [...recordedMs].sort((a, b) => a - b);
  const usual = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
  return EXECUTION_CLASSES.find((name) => usual * MARGIN <= classMs[name]) ?? "long";
}

function byName(tool: string): ExecutionClass | undefined {
  const words = tool
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  if (words.some((word, at) => QUICK_WORDS.has(word) && (at === 0 || at === words.length - 1)))
    return "quick";
  return words.some((word) => LONG_WORDS.test(word)) ? "long" : undefined;
}

/** A long path names a large file, an address something to fetch. */
function byArguments(args: JsonObject): ExecutionClass | undefined {
  const isLong = Object.entries(args).some(([name, value]) => {
    if (typeof value !== "string") return false;
    return (/path/i.test(name) && value.length > 100) || (/url/i.test(name) && /^https?:\/\//.test(value));
  });
  return isLong ? "long" : undefined;
}
