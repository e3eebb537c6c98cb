/** How long a new operation usually takes, and how long its call waits: its class, and what the configuration says beside. */
import type { JsonObject } from "../shared/operation/idempotency.js";
import type { Operations } from "../shared/store/operations/operation-store.js";
import { type CallRules, NO_RULES } from "../shared/tools/call-rules.js";
import { executionClassOf } from "../shared/tools/execution-class.js";
import type { ExecutionClass } from "../shared/tools/tool.js";
import type { ReadCall } from "./call-reader.js";
import type { OfferedTool } from "./tools/catalog.js";

export interface CallTimesOptions {
  /** By tool, if its own description does not state the class. */
  executionClasses?: Readonly<Record<string, ExecutionClass>>;
  rules?: CallRules;
}

export interface CallTimes {
  executionClass: ExecutionClass;
  /** Undefined: as the class says. */
  maxExecutionMs: number | undefined;
}

/** `editor`: where it goes, an Editor or a pool. */
export async function callTimes(
  { tool: { name: tool, executionClass: given }, arguments: args }: Pick<ReadCall, "tool" | "arguments">,
  editor: string,
  operations: Pick<Operations, "durationsOf">,
  { executionClasses = {}, rules = NO_RULES }: CallTimesOptions,
): Promise<CallTimes> {
  const ruled = rules.classOf({ tool, editor });
  const configured = executionClasses[tool];
  const isKnown = (ruled ?? given ?? configured) !== undefined;
  const executionClass = executionClassOf({
    tool,
    ruled,
    given,
    configured,
    recordedMs: isKnown ? [] : (await operations.durationsOf(tool)).map(({ ms }) => ms),
    classMs: rules.classMs,
    arguments: JSON.parse(args) as JsonObject,
  });
  return { executionClass, maxExecutionMs: rules.mostMs({ tool, editor, executionClass }) };
}

/** How long calls of a tool wait, s; undefined if that depends on the Editor. */
export function waitSecondsOf({ name, editors }: OfferedTool, rules: CallRules): number | undefined {
  const configured = new Set(editors.map((editor) => rules.timeout({ tool: name, editor })));
  return configured.size === 1 ? [...configured][0] : undefined;
}
