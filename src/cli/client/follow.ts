/** Waits for an operation across as many waits as it takes, and shows its progress on stderr. */
import { setTimeout as delay } from "node:timers/promises";
import type { Answer } from "../../shared/operation/answer.js";
import { printableLine } from "../../shared/printable.js";
import { cut } from "../columns.js";
import type { BrokerClient, ProgressNote } from "./broker-client.js";
import { age } from "./render.js";

/** One wait of the broker, s: below what it cuts to. */
const ONE_WAIT_S = 45;

export interface FollowOptions {
  /** Seconds to wait at most; Infinity: until the end. */
  seconds: number;
  onProgress?: ((note: ProgressNote) => void) | undefined;
  /** Ends the wait; the operation goes on. */
  signal: AbortSignal;
}

/** Asks for a result, over as many waits as it takes; answers where the operation stands when the waiting is over. */
export async function waitForResult(
  client: BrokerClient,
  logId: string,
  { seconds, onProgress, signal }: FollowOptions,
): Promise<Answer> {
  const startedAt = performance.now();
  const options = { signal, ...(onProgress ? { onProgress } : {}) };
  try {
    for (;;) {
      const left = Math.max(0, seconds - (performance.now() - startedAt) / 1000);
      const timeout = Math.min(left, ONE_WAIT_S);
      const wait = { log_id: logId, wait: timeout > 0, timeout };
      const answer = await client.call("get_operation_result", wait, options);
      if (answer.status !== "running" || left <= ONE_WAIT_S) return answer;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return standing(client, logId);
  }
}

/** Somebody has pressed Ctrl-C: a broker that is stopped or hangs does not keep them, ms. */
const PARTING_MS = 2_000;

/** Where it stands, or that nobody says. */
async function standing(client: BrokerClient, logId: string): Promise<Answer> {
  const unknown = (message: string): Answer => ({ status: "running", log_id: logId, message });
  const silence = unknown("The broker does not answer now. The operation goes on.");
  const given = new AbortController();
  const answer = client.call("get_operation_status", { log_id: logId }, { signal: given.signal });
  const late = delay(PARTING_MS, silence, { signal: given.signal });
  late.catch(() => undefined);
  try {
    return await Promise.race([answer.catch((error: Error) => unknown(error.message)), late]);
  } finally {
    given.abort();
  }
}

/** An answer read by log_id does not mention that this call had joined the operation; the first answer did. */
export function sameCall({ deduplicated, executed_at }: Answer, read: Answer): Answer {
  if (!deduplicated) return read;
  const { status, message, ...outcome } = read;
  return {
    status,
    deduplicated,
    ...(executed_at === undefined ? {} : { executed_at }),
    ...outcome,
    message: `This call joined the same call in flight: one run answers both. ${message}`,
  };
}

export interface ProgressView {
  show(note: ProgressNote): void;
  /** Takes it off the screen; the next note shows it again. */
  close(): void;
}

/** A bar on a terminal, elsewhere a line whenever something changed. */
export function createProgressView(stream: NodeJS.WriteStream): ProgressView {
  return stream.isTTY ? createBar(stream) : createProgressLines((line) => stream.write(`${line}\n`));
}

const ERASE_LINE = "\r\u001b[K";
/** How long it waits, as of its last note; a person sees every second of it. */
const WAITED = /\(waited [^()]*\)$/;
const TICK_MS = 1_000;

function createBar(stream: NodeJS.WriteStream): ProgressView {
  const beganAt = performance.now();
  let note: ProgressNote | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let shown = "";
  const draw = (): void => {
    if (!note) return;
    const waited = `(waited ${age(performance.now() - beganAt)})`;
    const line = barLine({ ...note, message: note.message?.replace(WAITED, waited) }, stream.columns || 80);
    if (line !== shown) stream.write(`${ERASE_LINE}${line}`);
    shown = line;
  };
  return {
    show(latest) {
      note = latest;
      ticking ??= setInterval(draw, TICK_MS).unref();
      draw();
    },
    close() {
      clearInterval(ticking);
      ticking = undefined;
      if (shown !== "") stream.write(ERASE_LINE);
      shown = "";
    },
  };
}

/** Fits into one line, behind which the cursor has a place. What has no total has no bar. */
export function barLine(note: ProgressNote, columns: number): string {
  const share = shareOf(note);
  const width = columns < 80 ? 10 : 30;
  const filled = Math.floor((share ?? 0) * width);
  const bar = share === undefined ? "" : `${"█".repeat(filled)}${"░".repeat(width - filled)} `;
  return cut(`${bar}${noteLine(note)}`, columns - 1);
}

/** From 0 to 1; undefined without a total. */
function shareOf({ progress, total }: ProgressNote): number | undefined {
  return total ? Math.min(1, Math.max(0, progress / total)) : undefined;
}

function noteLine(note: ProgressNote): string {
  const { progress, message = "" } = note;
  const share = shareOf(note);
  const percent = share === undefined ? "" : `${Math.floor(100 * share)} %`;
  return [percent, printableLine(message)].filter(Boolean).join("  ") || `${progress}`;
}

export function createProgressLines(write: (line: string) => void): ProgressView {
  let last = "";
  return {
    show(note) {
      const line = noteLine(note);
      if (line !== last) write(line);
      last = line;
    },
    close: () => undefined,
  };
}
