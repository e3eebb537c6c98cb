/**
 * The process of a launched Editor: started apart from the command, and noted, until it is connected, for the launches that follow.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identify, isLiving, type ProcessIdentity } from "../../shared/machine/living-process.js";
import type { LaunchLog } from "./editor-log.js";

export interface EditorProcess {
  pid: number;
  log: LaunchLog;
  /** Why it has ended; undefined while it runs. */
  end(): string | undefined;
  /** It is connected, so that its endpoint file speaks for it, or it has ended: later launches need not wait for it. */
  forget(): void;
}

export interface EditorStart {
  executable: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  log: LaunchLog;
  /** Where it is noted. */
  folder: string;
}

/** What a broker is asked with; Unity and the build scripts that it runs need none of it. */
const SECRETS = ["UNITY_BROKER_TOKEN", "UNITY_BROKER_URL", "REDIS_URL", "REDIS_PASSWORD_FILE"];

/** Outlives this command: a terminal's Ctrl-C does not reach it. Throws where the program cannot be started. */
export async function startEditor({
  executable,
  args,
  env,
  log,
  folder,
}: EditorStart): Promise<EditorProcess> {
  const output = openSync(log.output, "a");
  let ended: string | undefined;
  const child = spawn(executable, [...args], {
    detached: true,
    stdio: ["ignore", output, output],
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.includes(name))),
  });
  closeSync(output);
  child.once("exit", (code, signal) => {
    ended = signal === null ? `exit code ${code}` : `signal ${signal}`;
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(new Error(`${executable} cannot be started: ${error.message}`)));
  });
  child.unref();
  const pid = child.pid ?? 0;
  writeFileSync(noteIn(folder), JSON.stringify({ ...identify(pid), log }), { mode: 0o600 });
  return { pid, log, end: () => ended, forget: () => forget(folder) };
}

/** An Editor that an earlier launch has started and that still runs, whether or not it answers yet. */
export function startedEarlier(folder: string): EditorProcess | undefined {
  const noted = readNote(folder);
  if (!noted || !isLiving(noted)) return undefined;
  const { pid, log } = noted;
  const end = () => (isLiving(noted) ? undefined : "it has ended");
  return { pid, log, end, forget: () => forget(folder) };
}

function forget(folder: string): void {
  rmSync(noteIn(folder), { force: true });
}

function noteIn(folder: string): string {
  return join(folder, "launched.json");
}

function readNote(folder: string): (ProcessIdentity & { log: LaunchLog }) | undefined {
  try {
    const noted = JSON.parse(readFileSync(noteIn(folder), "utf8"));
    return typeof noted?.pid === "number" && typeof noted.log?.file === "string" ? noted : undefined;
  } catch {
    return undefined;
  }
}
