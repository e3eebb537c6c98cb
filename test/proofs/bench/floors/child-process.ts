/** Processes of the benchmark's own, written in TypeScript; none of them outlives the one that started it. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface OwnProcess<Ready> {
  readonly pid: number;
  /** What it says when it is ready; rejects when it ends before. */
  readonly ready: Promise<Ready>;
  /** Sends what `answerParent` answers there, one at a time; rejects when the process ends before. */
  ask<Answer>(question: object): Promise<Answer>;
  close(): Promise<void>;
}

/** How long a process may take to end when asked, ms. */
const END_LIMIT_MS = 5_000;

/** Starts a file of this folder. */
export function startOwnProcess<Ready>(
  file: URL,
  settings: object,
  env: NodeJS.ProcessEnv,
): OwnProcess<Ready> {
  const child = fork(fileURLToPath(file), [JSON.stringify(settings)], {
    env,
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  const early = ended.then(([code]) => {
    throw new Error(`${file.pathname} ended (${code}) before it said what was waited for`);
  });
  // Nobody may be waiting any more.
  early.catch(() => undefined);
  const said = <T>(): Promise<T> => Promise.race([once(child, "message"), early]).then(([what]) => what as T);
  const ready = said<Ready>();
  ready.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    ready,
    ask<Answer>(question: object) {
      const answer = said<Answer>();
      child.send(question);
      return answer;
    },
    close: () => end(child, ended),
  };
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.connected) child.disconnect();
  const late = setTimeout(() => child.kill("SIGKILL"), END_LIMIT_MS);
  await ended;
  clearTimeout(late);
}

/** In the child: says what the parent waits for. */
export function tellParent(ready: object): void {
  if (process.connected) process.send?.(ready);
}

/** In the child: answers what the parent asks. A rejection ends the process. */
export function answerParent<Question extends object>(answer: (question: Question) => Promise<object>): void {
  process.on("message", (question) => void answer(question as Question).then(tellParent));
}

/** In the child: cleans up and ends when the parent says so, or is gone. A Ctrl-C is the parent's to answer. */
export function endWithParent(close: () => Promise<void>): void {
  process.on("SIGINT", () => undefined);
  process.once("disconnect", () => {
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
