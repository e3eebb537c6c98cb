/** Real processes of the built command line, and the certainty that none of them outlives the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  /** Settles when the process is gone and its output was read. */
  readonly ended: Promise<End>;
  readonly isRunning: boolean;
  /** What was written so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** The first line of stdout, past or to come, that matches; rejects when the process ends without one. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Every line of stdout from now on. */
  onLine(listener: (line: string) => void): void;
  write(text: string): void;
  endInput(): void;
  /** Sends the signal and waits for the end; an end that was asked for is no fault. */
  kill(signal?: NodeJS.Signals): Promise<End>;
  /** Sends a signal that does not end it (SIGSTOP, SIGCONT). */
  signal(signal: NodeJS.Signals): void;
}

export interface Processes {
  start(
    name: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    program?: readonly string[],
    folder?: string,
  ): RunningProcess;
  /** Has a process that somebody else started ended with the others, should it be left. */
  guard(pid: number): void;
  running(): RunningProcess[];
  /** The end of what each process said on stderr. */
  logs(): string;
  /**
   * Asks what still runs to end, in reverse order of start, and makes it; answers what went wrong: a process that
   * did not end by itself, or one that ended unasked or with a code other than 0.
   */
  close(): Promise<string[]>;
}

/** How long a process may take to end when asked, ms. */
const END_LIMIT_MS = 15_000;

/** `within`: a command that runs another one, as `ip netns exec <name>` does, for all of them. */
export function createProcesses(within: readonly string[] = []): Processes {
  const all: RunningProcess[] = [];
  const faults: string[] = [];
  const watchdog = startWatchdog();

  return {
    start(name, args, env, program = [MAIN], folder = process.cwd()) {
      const [file = "", ...whole] = [...within, process.execPath, ...program, ...args];
      const child = spawn(file, whole, { env, cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
      const started = observe(name, child, (fault) => faults.push(fault));
      watchdog.add(started.pid);
      void started.ended.then(() => watchdog.forget(started.pid));
      all.push(started);
      return started;
    },

    guard: watchdog.add,
    running: () => all.filter(({ isRunning }) => isRunning),

    logs: () =>
      all
        .map(({ name, pid, stderr }) => `--- ${name} (${pid})\n${stderr.split("\n").slice(-60).join("\n")}`)
        .join("\n"),

    async close() {
      for (const each of all.filter(({ isRunning }) => isRunning).reverse()) {
        each.signal("SIGCONT");
        const late = setTimeout(() => {
          faults.push(`${each.name} (${each.pid}) did not end within ${END_LIMIT_MS} ms of SIGTERM`);
          each.signal("SIGKILL");
        }, END_LIMIT_MS);
        const { code } = await each.kill("SIGTERM");
        clearTimeout(late);
        if (code !== 0 && code !== null) faults.push(`${each.name} ended with code ${code} at SIGTERM`);
      }
      watchdog.close();
      return faults;
    },
  };
}

/** Characters of its output: an Editor that is asked for an hour how it is says hundreds of millions. */
const MOST_KEPT = 16_000_000;

function observe(name: string, child: ChildProcess, fault: (text: string) => void): RunningProcess {
  let stdout = "";
  let stderr = "";
  let partial = "";
  let isRunning = true;
  let isExpected = false;
  const listeners = new Set<(line: string) => void>();

  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (stdout.length > MOST_KEPT) stdout = stdout.slice(-MOST_KEPT / 2);
    const parts = (partial + text).split("\n");
    partial = parts.pop() ?? "";
    for (const line of parts) {
      for (const listener of listeners) listener(line);
    }
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // A process that was killed no longer reads: the test knows that by other means.
  child.stdin?.on("error", () => undefined);
  const ended = once(child, "close").then(([code, signal]) => {
    isRunning = false;
    if (!isExpected && (code !== 0 || signal !== null)) fault(`${name} ended unasked: ${code ?? signal}`);
    return { code, signal } as End;
  });

  return {
    name,
    pid: child.pid ?? 0,
    ended,
    get isRunning() {
      return isRunning;
    },
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    line(pattern) {
      return new Promise((resolve, reject) => {
        const look = (line: string): boolean => {
          const found = pattern.exec(line);
          if (!found) return false;
          listeners.delete(look);
          resolve(found);
          return true;
        };
        if (stdout.split("\n").slice(0, -1).some(look)) return;
        listeners.add(look);
        void ended.then(({ code, signal }) =>
          reject(new Error(`${name} ended (${code ?? signal}) without a line like ${pattern}:\n${stderr}`)),
        );
      });
    },
    onLine: (listener) => void listeners.add(listener),
    write: (text) => void child.stdin?.write(text),
    endInput: () => {
      isExpected = true;
      child.stdin?.end();
    },
    kill(signal = "SIGKILL") {
      isExpected = true;
      child.kill(signal);
      return ended;
    },
    signal: (signal) => void child.kill(signal),
  };
}

interface Watchdog {
  add(pid: number): void;
  forget(pid: number): void;
  close(): void;
}

/**
 * A shell with a session of its own that learns the processes of this test, and kills those that are left when this
 * process ends by whatever means: the system closes the shell's standard input then.
 */
function startWatchdog(): Watchdog {
  const script = `
    pids=""
    while read -r what pid; do
      case "$what" in
        add) pids="$pids $pid" ;;
        forget) pids=$(printf '%s' " $pids " | sed "s/ $pid / /g") ;;
        close) exit 0 ;;
      esac
    done
    for pid in $pids; do kill -9 "$pid" 2>/dev/null; done`;
  const shell = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  shell.stdin.on("error", () => undefined);
  const tell = (text: string) => void shell.stdin.write(`${text}\n`);
  return {
    add: (pid) => tell(`add ${pid}`),
    forget: (pid) => tell(`forget ${pid}`),
    close: () => void shell.stdin.end("close\n"),
  };
}

/** Looks until `look` answers something other than undefined or false; rejects with `what` when it takes too long. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
