/** One EditorHost process from start to end, and its control channel. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { daemonEnvironment } from "../shared/daemon-environment.js";

export interface HostReady {
  editorId: string;
  port: number;
}

/** An answer on the control channel. */
export type HostAnswer = { ok: boolean; error?: string } & Record<string, unknown>;

export interface HostProcess extends HostReady {
  readonly pid: number;
  /** Settles when the process has ended. */
  readonly ended: Promise<void>;
  /** Sends one command; answers come in order. Rejects when the process ends first. */
  ask(command: object): Promise<HostAnswer>;
  /** SIGKILL: the Editor crashes. */
  kill(): Promise<void>;
  /** Quits it as a user quits the Editor. */
  quit(): Promise<void>;
}

const OF_DOTNET = ["DOTNET_ROOT", "DOTNET_ROLL_FORWARD", "DOTNET_CLI_HOME", "DOTNET_GCHEAPHARDLIMIT"];

/** Starts it and resolves once it listens; otherwise rejects with its output. */
export async function startHost(file: string, args: readonly string[]): Promise<HostProcess> {
  const child = spawn("dotnet", [file, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: daemonEnvironment(process.env, OF_DOTNET),
  });
  const ended = once(child, "close").then(() => undefined);
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said = (said + text.toString("utf8")).slice(-4000);
    process.stderr.write(text);
  });
  // A host that was killed no longer reads.
  child.stdin.on("error", () => {});
  const answers = readAnswers(child);
  const ready = await answers.next();
  if (ready === undefined) throw new Error(`The Editor stand-in did not start: ${said.trim()}`);
  const { editorId, port } = ready as unknown as HostReady;
  return {
    editorId,
    port,
    pid: child.pid ?? 0,
    ended,
    async ask(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const answer = await answers.next();
      if (answer === undefined) throw new Error("The Editor stand-in ended before it answered.");
      return answer as HostAnswer;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async quit() {
      child.stdin.end(`${JSON.stringify({ do: "quit" })}\n`);
      await ended;
    },
  };
}

/** The lines of stdout one after the other; undefined once the process has ended. */
function readAnswers(child: ChildProcess): { next(): Promise<unknown> } {
  const lines: unknown[] = [];
  const waiting: ((line: unknown) => void)[] = [];
  let gone = false;
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  reader.on("line", (text) => {
    const line: unknown = JSON.parse(text);
    const next = waiting.shift();
    if (next) next(line);
    else lines.push(line);
  });
  reader.on("close", () => {
    gone = true;
    for (const next of waiting.splice(0)) next(undefined);
  });
  return {
    next: () =>
      new Promise((resolve) => {
        if (lines.length > 0) resolve(lines.shift());
        else if (gone) resolve(undefined);
        else waiting.push(resolve);
      }),
  };
}
