/** The same attempt as the owner of the test's files and as another user of this machine, each in a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Who has no rights here, and exists on every system. */
const NOBODY = 65534;

export type Who = "owner" | "other";

/** Why there is no other user to be; undefined: there is. */
export const noOtherUser: string | undefined =
  process.platform !== "linux"
    ? "only Linux says whose a connection is"
    : process.getuid?.() !== 0
      ? "only root may start a process as another user"
      : undefined;

/** What an attempt may use: it is sent as text, and nothing around it goes along. */
export type Attempt<A, R> = (node: NodeJS.Require, args: A) => Promise<R> | R;

export interface Running<R> {
  /** The next line that it says by `console.log`. */
  line(): Promise<string>;
  /** What it returned; rejects with what it threw. */
  result: Promise<R>;
  kill(): Promise<void>;
}

/** Starts an attempt; a test that waits for neither its end nor its lines kills it. */
export function start<A, R>(who: Who, attempt: Attempt<A, R>, args: A): Running<R> {
  const text = `(async () => (${attempt.toString()})(require, ${JSON.stringify(args)}))().then(
    (result) => { require("node:fs").writeSync(3, JSON.stringify({ result })); process.exit(0); },
    (error) => { require("node:fs").writeSync(3, JSON.stringify({ error: String(error.code ?? error.stack) })); process.exit(0); },
  );`;
  const user = who === "other" ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(process.execPath, ["-e", text], {
    ...user,
    cwd: "/",
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  let said = "";
  (child.stdio[3] as NodeJS.ReadableStream).on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  let partial = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (partial + chunk.toString()).split("\n");
    partial = parts.pop() ?? "";
    for (const part of parts) {
      const next = waiting.shift();
      if (next) next(part);
      else lines.push(part);
    }
  });
  const closed = once(child, "close");
  const result = closed.then(() => {
    const { result, error } = JSON.parse(said || '{"error":"killed"}') as { result: R; error?: string };
    if (error !== undefined) throw new Error(error);
    return result;
  });
  result.catch(() => undefined);
  return {
    result,
    line: () =>
      new Promise((resolve) => {
        const next = lines.shift();
        if (next === undefined) waiting.push(resolve);
        else resolve(next);
      }),
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** Runs an attempt to its end. */
export function run<A, R>(who: Who, attempt: Attempt<A, R>, args: A): Promise<R> {
  return start(who, attempt, args).result;
}
