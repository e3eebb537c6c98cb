/** What a waiting `run` shows: a bar on a terminal; elsewhere lines, for logs that people read later. */
import type { Answer } from "../../shared/operation/answer.js";
import { printableLine } from "../../shared/printable.js";
import type { ProgressNote } from "../client/broker-client.js";
import { createProgressView, type ProgressView } from "../client/follow.js";
import type { ConsoleLog } from "./console-log.js";
import { spoken } from "./duration.js";
import { lineWithoutCommands } from "./runner-commands.js";

// What is new in a partial result, as lines: the failed tests of run-tests, the log of a tool that keeps one.

/** Most lines for one answer; the result has all. */
const MOST_LINES = 20;

export interface Partials {
  /** Those that no earlier answer had. A list only grows: a tool that starts it again is shown from there. */
  linesOf(answer: Answer): string[];
}

/** `isOther`: a line of `Logs` was not shown already. */
export function createPartials(isOther: (line: string) => boolean = () => true): Partials {
  const shown = { failures: 0, Logs: 0 };

  const newIn = (list: unknown, name: keyof typeof shown): unknown[] => {
    if (!Array.isArray(list)) return [];
    const fresh = list.slice(list.length < shown[name] ? 0 : shown[name]);
    shown[name] = list.length;
    return fresh;
  };

  return {
    linesOf({ state, partial_result: partial }) {
      if (state !== "running" || typeof partial !== "object" || partial === null) return [];
      const { failures, Logs } = partial as Record<string, unknown>;
      const lines = newIn(failures, "failures").map(failureLine);
      let left = 0;
      for (const entry of newIn(Logs, "Logs")) {
        const text = typeof entry === "string" ? entry : JSON.stringify(entry);
        if (lines.length >= MOST_LINES) left += 1;
        else if (isOther(text)) lines.push(`  | ${text}`);
      }
      left += Math.max(0, lines.length - MOST_LINES);
      return left > 0 ? [...lines.slice(0, MOST_LINES), `  … and ${left} more`] : lines;
    },
  };
}

function failureLine(failure: unknown): string {
  const { name, message } = (failure ?? {}) as { name?: unknown; message?: unknown };
  return `  failed  ${String(name)}: ${String(message).split("\n")[0]}`;
}

export interface RunProgress {
  /** A line of its own, at once. */
  say(line: string): void;
  answered(answer: Answer): void;
  /** What `answered` shows of the Console. */
  log: ConsoleLog | undefined;
  /** Undefined where lines are shown: these come from the answers. */
  onProgress: ((note: ProgressNote) => void) | undefined;
  /** Takes the bar off the screen; the next note shows it again. */
  close(): void;
}

export interface RunProgressOptions {
  /** Where lines go. */
  stream: NodeJS.WriteStream;
  /** Where the bar goes; undefined: no bar. */
  bar: NodeJS.WriteStream | undefined;
  /** Least time between two lines of progress, ms. */
  lineEveryMs: number;
  /** Undefined: the Console's lines are not shown. */
  log: ConsoleLog | undefined;
  now?: () => number;
}

export function createRunProgress(options: RunProgressOptions): RunProgress {
  const { stream, bar, lineEveryMs, log, now = () => performance.now() } = options;
  const beganAt = now();
  const partials = createPartials(log?.isOther);
  const view: ProgressView | undefined = bar && createProgressView(bar);
  let saidReason: string | undefined;
  let shown = "";
  let shownAt = Number.NEGATIVE_INFINITY;

  const write = (line: string): void => void stream.write(`${lineWithoutCommands(printableLine(line))}\n`);

  const say = (line: string): void => {
    // The bar is drawn again behind the line with the next note.
    view?.close();
    write(line);
  };

  return {
    say,
    log,
    onProgress: view?.show,

    answered(answer) {
      for (const line of log?.newLines() ?? []) say(line);
      for (const line of partials.linesOf(answer)) say(line);
      const reason = waitReason(answer);
      if (reason !== undefined && reason !== saidReason) say(reason);
      saidReason = reason;
      if (view || answer.status !== "running") return;
      const line = lineOf(answer);
      if (line === shown || now() - shownAt < lineEveryMs) return;
      shown = line;
      shownAt = now();
      write(`${spoken(now() - beganAt).padStart(7)}  ${line}`);
    },

    close: () => view?.close(),
  };
}

/** What keeps it from starting until a person does something: a sentence of its message. */
function waitReason({ status, message }: Answer): string | undefined {
  return status === "running" ? /It waits: .*?\.(?= |$)/.exec(message)?.[0] : undefined;
}

/** Where the operation stands, without anything that changes with every look. */
function lineOf({ state = "queued", progress, queue_position: before, diagnosis }: Answer): string {
  if (diagnosis) return `${state}: ${diagnosis.message} ${diagnosis.next}`;
  const place = before ? `${state}, ${before} before it` : state;
  if (!progress) return place;
  const { progress: done, total, message } = progress;
  const share = total ? `${Math.floor((100 * done) / total)} %` : place;
  return message ? `${share}  ${message}` : share;
}
