/**
 * What is configured for calls, most specific first: for a tool on some Editors, for the tool, for the Editors, for the
 * class. Of several patterns that match, the first one in the file counts; a name that is written out precedes patterns.
 */
import picomatch from "picomatch";
import { slugOf } from "../editors/editor-id.js";
import type { ClassRule, EditorRule, ToolRule } from "./call-rule-settings.js";
import { CLASS_MS } from "./execution-class.js";
import { EXECUTION_CLASSES, type ExecutionClass } from "./tool.js";

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
