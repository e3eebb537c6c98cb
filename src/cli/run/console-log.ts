/** What the Unity Console says while an operation runs, as lines: each once, over any number of answers and connections. */
import { z } from "zod";
import { LOG, LOG_AFTER } from "../../gateway/mcp/tools/log-meta.js";
import { ConsoleLine } from "../../shared/wire/console-lines.js";

export interface ConsoleLog {
  /** What the next question asks for, as MCP's `_meta`; the last answer is forgotten. */
  question(): Record<string, unknown>;
  /** Takes the `_meta` of its answer. */
  take(meta: Record<string, unknown>): void;
  /** The lines of all answers since the last call. */
  newLines(): string[];
  /** The last answer had lines. */
  isTalking(): boolean;
  /** The broker has further lines. */
  hasMore(): boolean;
  /** Whether the tool's own report of a line (`Logs` in its partial result) is not one of these lines. */
  isOther(reported: string): boolean;
}

const Answered = z.looseObject({
  lines: z.array(ConsoleLine),
  next: z.int().nonnegative(),
  missed: z.int().optional(),
  more: z.boolean().optional(),
});

/** Lines remembered, to find those that are reported in both ways. */
const REMEMBERED = 1_000;

export function createConsoleLog(): ConsoleLog {
  let after = 0;
  let last: z.output<typeof Answered> | undefined;
  let fresh: string[] = [];
  const ofConsole = new Map<string, number>();
  const ofTool = new Map<string, number>();

  /** False if the other way had this line, which then counts as shown. */
  const isFirst = (text: string, own: Map<string, number>, other: Map<string, number>): boolean => {
    const shown = other.get(text) ?? 0;
    if (shown > 0) {
      other.set(text, shown - 1);
      return false;
    }
    if (own.size >= REMEMBERED) own.clear();
    own.set(text, (own.get(text) ?? 0) + 1);
    return true;
  };

  return {
    question() {
      last = undefined;
      return { [LOG_AFTER]: after };
    },

    take(meta) {
      last = Answered.safeParse(meta[LOG]).data;
      if (!last) return;
      after = last.next;
      if (last.missed) fresh.push(`  | … ${last.missed} lines were not kept`);
      for (const line of last.lines)
        if (isFirst(asReported(line), ofConsole, ofTool)) fresh.push(...linesOf(line));
    },

    newLines() {
      const lines = fresh;
      fresh = [];
      return lines;
    },

    isTalking: () => (last?.lines.length ?? 0) > 0,
    hasMore: () => last?.more === true,
    isOther: (reported) => isFirst(reported, ofTool, ofConsole),
  };
}

/** Every line of the message behind the mark: none of them begins with the Editor's text. */
function linesOf({ type, message }: ConsoleLine): string[] {
  const [first = "", ...rest] = message.trimEnd().split(/\r?\n/);
  return [`  | ${type === "log" ? "" : `[${type}] `}${first}`, ...rest.map((line) => `  |   ${line}`)];
}

/** As the bridge's tools write it into their partial results. */
function asReported({ type, message }: ConsoleLine): string {
  return type === "log" ? message : `${type === "warning" ? "Warning" : "Error"}: ${message}`;
}
