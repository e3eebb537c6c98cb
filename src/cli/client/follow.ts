/** Waits for an operation across as many waits as it takes, and shows its progress on stderr. */
import type { Answer } from "../../shared/operation/answer.js";
import { printableLine } from "../../shared/printable.js";
import type { BrokerClient, ProgressNote } from "./broker-client.js";

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
    return client.call("get_operation_status", { log_id: logId });
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
    message: `Not run again: this call was in flight already, and was joined. ${message}`,
  };
}

export interface ProgressView {
  show(note: ProgressNote): void;
  /** Takes it off the screen; the next note shows it again. */
  close(): void;
}

/** A bar on a terminal, elsewhere a line whenever something changed. */
export async function createProgressView(stream: NodeJS.WriteStream): Promise<ProgressView> {
  if (!stream.isTTY) return createProgressLines((line) => stream.write(`${line}\n`));
  const { SingleBar } = await import("cli-progress");
  const bar = new SingleBar({
    stream,
    format: "{bar} {percentage}%  {message}",
    barsize: 30,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
  });
  let isOpen = false;
  return {
    show({ progress, total = 0, message = "" }) {
      const width = Math.max(10, (stream.columns ?? 80) - 40);
      const payload = { message: printableLine(message.slice(0, width)) };
      if (!isOpen) bar.start(total || 100, 0, payload);
      isOpen = true;
      if (total > 0) bar.setTotal(total);
      bar.update(total > 0 ? progress : 0, payload);
    },
    close() {
      if (isOpen) bar.stop();
      isOpen = false;
    },
  };
}

export function createProgressLines(write: (line: string) => void): ProgressView {
  let last = "";
  return {
    show({ progress, total, message = "" }) {
      const share = total ? `${Math.round((100 * progress) / total)} %  ` : "";
      const line = `${share}${printableLine(message)}`;
      if (line !== last) write(line);
      last = line;
    },
    close: () => undefined,
  };
}
