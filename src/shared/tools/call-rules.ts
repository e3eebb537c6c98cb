/** What a call may say beside its tool's arguments, how long it may take, and which tools are offered. */
import picomatch from "picomatch";
import { bare, slugOf } from "../editors/target.js";
import { hasHalfCharacter, type JsonObject } from "../operation/decide.js";
import type { OperationRecord } from "../operation/operation.js";
import { head } from "../printable.js";
import { WAITS, type WaitLimits, waitText } from "../wait-time.js";
import type { ClassRule, EditorRule, ToolRule } from "./call-rule-settings.js";
import { portableSchema } from "./portable-schema.js";
import {
  completeTool,
  EXECUTION_CLASSES,
  type ExecutionClass,
  type JsonObjectSchema,
  type Tool,
  ToolDetails,
} from "./tool.js";

// The broker's own optional parameters, added to every Unity tool: how they are offered and taken out again.

/** As a call gives them. */
export interface CallParameters {
  /** Seconds to wait for the outcome, as the caller wrote it. */
  timeout?: unknown;
  idempotencyKey?: string;
  forceNew?: string;
  editor?: string;
  ifAway?: IfAway;
}

/** What becomes of a call while its Editor is not connected. */
export const IF_AWAY = ["wait", "refuse"] as const;
export type IfAway = (typeof IF_AWAY)[number];

/** Short: each tool of a list repeats them. What they are for in full stands in the server's instructions. */
const OFFERED = {
  timeout: { type: "number" },
  idempotency_key: {
    type: "string",
    description: "The same when you retry.",
  },
  force_new: { type: "string", description: "To run it again on purpose: its log_id." },
  editor: { type: "string", description: "The Editor: its project's name or id, or pool:<labels>." },
} as const;

type OfferedName = keyof typeof OFFERED;
const NAMES = Object.keys(OFFERED) as OfferedName[];
/** Taken where a call has it, and not offered: a pipeline knows it, and each tool of a list would repeat it. */
const TAKEN = [...NAMES, "if_away"] as const;
type TakenName = (typeof TAKEN)[number];

/**
 * The tool's schema with the broker's parameters added, as far as they can matter, prefixed with `broker_` if the tool has a parameter of
 * that name. `several`: there are several Editors to choose from. `schema`: another form of the tool's own. All are accepted in any call.
 */
export function offerParameters(
  tool: Tool & { waitSeconds?: number | undefined },
  { several, waits = WAITS }: { several: boolean; waits?: WaitLimits },
  schema = tool.inputSchema,
): JsonObjectSchema {
  const properties = { ...schema.properties };
  // The same call of another tool runs again anyway.
  const ofChanges = tool.effect === "mutating" ? (["idempotency_key", "force_new"] as const) : [];
  const offered: OfferedName[] = ["timeout", ...ofChanges, ...(several ? (["editor"] as const) : [])];
  const timeout = {
    ...OFFERED.timeout,
    description: waitText(tool.waitSeconds ?? waits.standardSeconds, waits),
  };
  for (const name of offered) properties[nameFor(tool, name)] = { ...OFFERED, timeout }[name];
  return { ...schema, properties };
}

/** Takes the broker's parameters out of a call's arguments, however they are spelled, and from `_meta`, where they are always accepted. */
export function takeParameters(
  tool: Tool,
  args: JsonObject,
  meta: JsonObject = {},
): { arguments: JsonObject; parameters: CallParameters; wrong: string[] } {
  const own = { ...args };
  const taken: Partial<Record<TakenName, unknown>> = {};
  const ofTool = new Set(Object.keys(tool.inputSchema.properties ?? {}).map(bare));
  // Backwards: the first one that is spelled so counts.
  const spelled = new Map(
    Object.keys(own)
      .toReversed()
      .map((key) => [bare(key), key]),
  );
  for (const name of TAKEN) {
    const inArguments = nameFor(tool, name);
    const spelling = ofTool.has(bare(inArguments)) ? undefined : spelled.get(bare(inArguments));
    const written = inArguments in own ? inArguments : (spelling ?? inArguments);
    taken[name] = used(own[written]) ?? used(meta[name]) ?? used(meta[`broker_${name}`]);
    delete own[written];
  }
  const wrong: string[] = [];
  const text = (name: TakenName): string | undefined => {
    const value = taken[name];
    if (value === undefined) return undefined;
    if (typeof value === "string" && value.length <= 200 && !hasHalfCharacter(value)) return value;
    wrong.push(`${nameFor(tool, name)} must be a string of 1 to 200 characters`);
    return undefined;
  };
  const idempotencyKey = text("idempotency_key");
  const forceNew = text("force_new");
  const editor = text("editor");
  const policy = text("if_away");
  const ifAway = IF_AWAY.find((each) => each === policy);
  if (policy !== undefined && ifAway === undefined)
    wrong.push(`${nameFor(tool, "if_away")} must be one of ${IF_AWAY.join(", ")}`);
  return {
    arguments: own,
    parameters: {
      timeout: taken.timeout,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(forceNew === undefined ? {} : { forceNew }),
      ...(editor === undefined ? {} : { editor }),
      ...(ifAway === undefined ? {} : { ifAway }),
    },
    wrong,
  };
}

/** null and "" say that it is not used. */
const used = (value: unknown): unknown => (value === null || value === "" ? undefined : value);

function nameFor(tool: Tool, name: TakenName): string {
  return Object.hasOwn(tool.inputSchema.properties ?? {}, name) ? `broker_${name}` : name;
}

// How long a call usually takes. An operation that runs longer than its class is overdue: that is shown, but nothing is
// ended or run again for it.

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
  /** By a rule of the configuration. */
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

// What is configured for calls, most specific first: for a tool on some Editors, for the tool, for the Editors, for the class. Of several
// patterns that match, the first one in the file counts; a name that is written out precedes patterns.

export interface CallRuleSettings {
  classes: Readonly<Partial<Record<ExecutionClass, ClassRule | undefined>>>;
  tools: Readonly<Record<string, ToolRule>>;
  editors: Readonly<Record<string, EditorRule>>;
}

/** `editor`: the id of an Editor, or of the pool that the call was made for. */
export interface RuledCall {
  tool: string;
  editor: string;
  executionClass?: ExecutionClass | undefined;
}

export interface CallRules {
  /** The class that the tool's calls are given. */
  classOf(call: RuledCall): ExecutionClass | undefined;
  /** How long a call of the class usually takes at most, ms, where nothing else is said of the call. */
  classMs: Readonly<Record<ExecutionClass, number>>;
  /** The same of this call; undefined: nothing but the class's usual time (CLASS_MS). */
  mostMs(call: RuledCall): number | undefined;
  /** How often its waiting client is told of it, ms, as far as that is configured. */
  intervals(call: RuledCall): { minMs?: number; everyMs?: number };
  /** How long it waits, s, if it does not say. */
  timeout(call: RuledCall): number | undefined;
}

type Times = Pick<ToolRule, "max_execution_time" | "progress_interval" | "heartbeat_interval" | "timeout">;

export function createCallRules({ classes, tools, editors }: CallRuleSettings): CallRules {
  const toolRule = ruleFinder(tools, (name) => name);
  const editorRule = ruleFinder(editors, slugOf);
  const toolsOfEditor = new Map(
    Object.values(editors).map((rule) => [rule, ruleFinder(rule.tools ?? {}, (name) => name)]),
  );

  const rulesOf = ({ tool, editor }: RuledCall): ToolRule[] => {
    // A project's name is the beginning of its Editors' ids.
    const names = [editor, editor.split("@")[0] ?? editor];
    const ofEditors = editorRule(names);
    const there = ofEditors.flatMap((rule) => toolsOfEditor.get(rule)?.([tool]) ?? []);
    return [...there, ...toolRule([tool]), ...ofEditors];
  };

  const first = <K extends keyof Times>(call: RuledCall, name: K): Times[K] => {
    const ofClass: Times = (call.executionClass && classes[call.executionClass]) ?? {};
    return [...rulesOf(call), ofClass].find((rule) => rule[name] !== undefined)?.[name];
  };

  const ms = (value: number | undefined): number | undefined => value && value * 1_000;

  return {
    classOf: (call) => rulesOf(call).find((rule) => rule.execution_class)?.execution_class,
    classMs: Object.fromEntries(
      EXECUTION_CLASSES.map((name) => [name, ms(classes[name]?.max_execution_time) ?? CLASS_MS[name]]),
    ) as Record<ExecutionClass, number>,
    mostMs: (call) => ms(first(call, "max_execution_time")),
    intervals(call) {
      const [minMs, everyMs] = [ms(first(call, "progress_interval")), ms(first(call, "heartbeat_interval"))];
      return { ...(minMs === undefined ? {} : { minMs }), ...(everyMs === undefined ? {} : { everyMs }) };
    },
    timeout: (call) => first(call, "timeout"),
  };
}

export const NO_RULES: CallRules = createCallRules({ classes: {}, tools: {}, editors: {} });

/** All rules for one of these names. `exact`: the form in which a written name equals another. */
function ruleFinder<R>(
  rules: Readonly<Record<string, R>>,
  exact: (name: string) => string,
): (names: readonly string[]) => R[] {
  const all = Object.entries(rules).map(([pattern, rule]) => {
    const isPattern = /[*?[\]{}!()]/.test(pattern);
    const matches = picomatch(pattern, { dot: true, bash: true, nocase: true });
    const fits = (name: string): boolean =>
      isPattern ? matches(name) : name === pattern || exact(name) === exact(pattern);
    return { fits, isPattern, rule };
  });
  const inOrder = [...all.filter(({ isPattern }) => !isPattern), ...all.filter(({ isPattern }) => isPattern)];
  if (inOrder.length === 0) return () => [];
  return (names) => inOrder.filter(({ fits }) => names.some(fits)).map(({ rule }) => rule);
}

// Limits on an Editor's tool list: tools above a limit are left out, and reported, as are those that models cannot be offered.

/** Limits for the list of one Editor. */
export interface ToolLimits {
  tools: number;
  /** Most characters of the JSON of all tools together. */
  listCharacters: number;
  /** How deep a tool's schema may nest. */
  schemaDepth: number;
  /** Characters; a longer description is cut. */
  description: number;
}

export const TOOL_LIMITS: ToolLimits = {
  tools: 1_000,
  listCharacters: 2_000_000,
  schemaDepth: 32,
  description: 4_000,
};

export interface ToolsRead {
  tools: Tool[];
  /** How many were left out, here or in the lists that models are given … */
  leftOut: number;
  /** … and why (the first few): short and without control characters. */
  reasons: string[];
}

/** The names that MCP clients accept (SEP-986). */
const NAME = /^[\w./-]{1,128}$/;
const REASONS = 5;

/** Reads the answer to `get-tool-details`. Never throws, whatever the entries are. */
export function readTools(reported: readonly unknown[], limits: ToolLimits = TOOL_LIMITS): ToolsRead {
  const byName = new Map<string, Tool>();
  const reasons: string[] = [];
  let leftOut = Math.max(0, reported.length - limits.tools);
  if (leftOut > 0) reasons.push(`${reported.length} tools exceed the limit of ${limits.tools}`);
  let characters = 0;
  for (const entry of reported.slice(0, limits.tools)) {
    const tool = readTool(entry, limits);
    const size = typeof tool === "string" ? 0 : JSON.stringify(tool).length;
    const fault = typeof tool === "string" ? tool : faultAmong(tool, byName, characters + size, limits);
    let why = fault ?? "";
    if (typeof tool !== "string" && fault === undefined) {
      byName.set(tool.name, tool);
      characters += size;
      const portable = portableSchema(tool);
      if ("inputSchema" in portable) continue;
      why = `models are not offered ${tool.name}: ${portable.reason}`;
    }
    leftOut += 1;
    if (reasons.length < REASONS) reasons.push(why);
  }
  return { tools: [...byName.values()], leftOut, reasons };
}

function faultAmong(
  { name }: Tool,
  before: ReadonlyMap<string, Tool>,
  characters: number,
  { listCharacters }: ToolLimits,
): string | undefined {
  if (before.has(name)) return `${name} is listed twice`;
  return characters > listCharacters
    ? `with ${name} the list has more than ${listCharacters} characters`
    : undefined;
}

/** The tool, or why it is left out. */
function readTool(entry: unknown, { schemaDepth, description }: ToolLimits): Tool | string {
  const read = ToolDetails.safeParse(entry);
  if (!read.success) return "an entry is not a tool description";
  if (!NAME.test(read.data.name)) return `${shown(read.data.name)} is not a valid tool name`;
  const tool = completeTool(read.data);
  if (depthOf(tool.inputSchema, schemaDepth + 1) > schemaDepth) {
    return `the schema of ${tool.name} is nested deeper than ${schemaDepth}`;
  }
  return tool.description.length <= description
    ? tool
    : { ...tool, description: `${head(tool.description, description)}…` };
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 40).replace(/[^\x20-\x7e]/g, "?"));
}

/** Nesting of arrays and objects; 0 for any other value. Stops at `most`. No recursion: it may nest deeper than any stack. */
function depthOf(value: unknown, most: number): number {
  let level = [value].filter(isNested);
  let depth = 0;
  while (level.length > 0 && depth < most) {
    depth += 1;
    level = level.flatMap((nested) => Object.values(nested).filter(isNested));
  }
  return depth;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
