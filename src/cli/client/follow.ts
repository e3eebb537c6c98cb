/** Waits for an operation across as many waits as it takes, and shows its progress on stderr. */
import { SingleBar } from "cli-progress";
import type { Answer } from "../../shared/answer.js";
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

/** Calls `ask` with the seconds of one wait until its answer is final or the time is over. */
export async function waitFor(
  ask: (waitSeconds: number, logId: string | undefined) => Promise<Answer>,
  { seconds, signal }: FollowOptions,
): Promise<Answer> {
  const startedAt = performance.now();
  let answer: Answer | undefined;
  for (;;) {
    const left = seconds - (performance.now() - startedAt) / 1000;
    answer = await ask(Math.max(0, Math.min(left, ONE_WAIT_S)), answer?.log_id);
    const goesOn = answer.status === "timeout" || answer.status === "running";
    if (!goesOn || left <= ONE_WAIT_S || signal.aborted) return answer;
  }
}

/** Asks for a result until it is there. */
export function waitForResult(client: BrokerClient, logId: string, options: FollowOptions): Promise<Answer> {
  return waitFor(
    (timeout) =>
      client.call(
        "get_operation_result",
        { log_id: logId, wait: timeout > 0, timeout },
        withProgress(options),
      ),
    options,
  );
}

export function withProgress({ onProgress, signal }: FollowOptions) {
  return { signal, ...(onProgress ? { onProgress } : {}) };
}

export interface ProgressView {
  show(note: ProgressNote): void;
  close(): void;
}

/** A bar on a terminal, elsewhere a line whenever something changed. */
export function createProgressView(stream: NodeJS.WriteStream): ProgressView {
  if (!stream.isTTY) return createProgressLines((line) => stream.write(`${line}\n`));
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
      const payload = { message: message.slice(0, width) };
      if (!isOpen) bar.start(total || 100, 0, payload);
      isOpen = true;
      if (total > 0) bar.setTotal(total);
      bar.update(total > 0 ? progress : 0, payload);
    },
    close() {
      if (isOpen) bar.stop();
    },
  };
}

export function createProgressLines(write: (line: string) => void): ProgressView {
  let last = "";
  return {
    show({ progress, total, message = "" }) {
      const share = total ? `${Math.round((100 * progress) / total)} %  ` : "";
      const line = `${share}${message}`;
      if (line !== last) write(line);
      last = line;
    },
    close: () => undefined,
  };
}
