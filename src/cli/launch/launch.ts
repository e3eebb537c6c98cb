/**
 * Opens a project in Unity and waits until the broker has its Editor. One Editor for a project: of several launches one starts it,
 * and an Editor that is open, or that an earlier launch has started, is waited for instead.
 */

import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { identify, isLiving, type ProcessIdentity } from "../../shared/machine/living-process.js";
import { alone } from "../../shared/machine/start-claim.js";
import type { Ending } from "../client/exit-codes.js";
import { type LaunchLog, lastLines, meaningOf, prepareLog } from "./editor-log.js";
import type { Found } from "./find-unity.js";
import { isConnected, type ListedEditor, type OpenEditor } from "./open-editor.js";
import type { UnityProject } from "./project.js";

export interface LaunchDeps {
  project: UnityProject;
  /** The living Editor of the project; one call at a time. */
  openEditor(): Promise<OpenEditor | undefined>;
  /** What the broker lists. Rejects with the reason of the signal, or when the broker stays away. */
  listed(): Promise<ListedEditor[]>;
  findUnity(): Found;
  /** Unity's arguments beside the project and the log. */
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Of the launches of this project: their claim and their note. */
  folder: string;
  signal: AbortSignal;
  say(line: string): void;
}

export interface Launched {
  ending: Ending;
  message: string;
  editor?: OpenEditor;
  session?: string | undefined;
  /** No Editor was started by this command. */
  wasOpen?: boolean;
  executable?: string;
  /** The process that was started. */
  pid?: number;
  log?: string;
  /** The last lines of its log. */
  tail?: string[];
}

/** Pause between two looks at the endpoint files, ms; the broker is asked only once there is one. */
const LOOK_MS = 200;

export async function launchEditor(deps: LaunchDeps, waitMs: number): Promise<Launched> {
  const until = performance.now() + waitMs;
  mkdirSync(deps.folder, { recursive: true, mode: 0o700 });
  const claim = {
    timeoutMs: waitMs,
    // Another launch of this project is under way: its Editor is this one's too.
    meanwhile: async (): Promise<Launched | undefined> => {
      await delay(LOOK_MS, undefined, { signal: deps.signal });
      const editor = await deps.openEditor();
      const shown = editor && isConnected(editor, await deps.listed());
      return editor && shown ? open(editor, shown, true) : undefined;
    },
    tooLong: (pid: string): Error => new StillStarting(`Process ${pid} is still launching this project.`),
  };
  try {
    return await alone<Launched>(deps.folder, claim, () => openAlone(deps, until));
  } catch (error) {
    if (deps.signal.aborted)
      return { ending: "detached", message: "Interrupted before an Editor was started." };
    if (error instanceof StillStarting) return { ending: "goesOn", message: error.message };
    throw error;
  }
}

class StillStarting extends Error {}

/** With the claim held. */
async function openAlone(deps: LaunchDeps, until: number): Promise<Launched> {
  const { project, say } = deps;
  const present = await deps.openEditor();
  if (present) {
    say(`${present.id} has this project open (process ${present.pid}).`);
    const waited = await untilConnected(deps, until, { wasOpen: true });
    // It was being closed.
    return waited.ending === "failed" ? openAlone(deps, until) : waited;
  }
  const earlier = startedEarlier(deps.folder);
  if (earlier) {
    say(`An earlier launch has started Unity for this project (process ${earlier.pid}): waiting for it.`);
    return untilConnected(deps, until, { process: earlier, wasOpen: true });
  }
  const unity = deps.findUnity();
  if ("problem" in unity) return { ending: "refused", message: unity.problem };
  const log = prepareLog(project.path);
  const args = ["-projectPath", project.path, "-logFile", log.file, ...deps.args];
  const process = await startEditor({ ...deps, executable: unity.executable, args, log });
  say(`Started ${unity.executable} (process ${process.pid}); its log: ${log.file}`);
  const launched = await untilConnected(deps, until, { process, wasOpen: false });
  return { ...launched, executable: unity.executable };
}

interface Waited {
  /** Undefined: the Editor was open, and nobody knows its process otherwise. */
  process?: EditorProcess;
  wasOpen: boolean;
}

async function untilConnected(
  deps: LaunchDeps,
  until: number,
  { process, wasOpen }: Waited,
): Promise<Launched> {
  const known = process ? { pid: process.pid, log: process.log.file } : {};
  let listed: ListedEditor[] = [];
  let editor: OpenEditor | undefined;
  try {
    for (;;) {
      editor = await deps.openEditor();
      if (editor) {
        listed = await deps.listed();
        const shown = isConnected(editor, listed);
        if (shown) {
          process?.forget();
          return { ...known, ...open(editor, shown, wasOpen) };
        }
      }
      const end = process?.end();
      if (!editor && process && end !== undefined) {
        process.forget();
        return { ...known, ...dead(process.log, end) };
      }
      if (!editor && !process)
        return { ending: "failed", message: "The Editor that had the project open has ended." };
      if (performance.now() >= until) break;
      await delay(Math.min(LOOK_MS, Math.max(1, until - performance.now())), undefined, {
        signal: deps.signal,
      });
    }
  } catch (error) {
    if (!deps.signal.aborted) throw error;
    const message = `Interrupted. Unity goes on starting; the same command waits for it. To end it: process ${process?.pid ?? editor?.pid}.`;
    return { ...known, ending: "detached", message };
  }
  return { ...known, ...late(deps.project, process, editor, listed), ...(editor ? { editor } : {}) };
}

function open(editor: OpenEditor, { session }: ListedEditor, wasOpen: boolean): Launched {
  const message = wasOpen
    ? `${editor.id} has this project open: no other Editor was started.`
    : `${editor.id} is connected.`;
  return { ending: "ok", message, editor, session, wasOpen };
}

function dead(log: LaunchLog, end: string): Launched {
  const tail = lastLines(log);
  const meaning = meaningOf(tail);
  return {
    ending: "failed",
    message: [`Unity ended before the broker had its Editor (${end}).`, ...(meaning ? [meaning] : [])].join(
      " ",
    ),
    tail,
  };
}

/** The time is over: what is known of why. */
function late(
  { hasBridge }: UnityProject,
  process: EditorProcess | undefined,
  editor: OpenEditor | undefined,
  listed: readonly ListedEditor[],
): Launched {
  const diagnosis = listed.find(({ id }) => id === editor?.id)?.diagnosis?.message;
  const why = editor
    ? `The Editor listens (process ${editor.pid}), and the broker is not connected with it${diagnosis === undefined ? ": does a worker of it run on this machine?" : `: ${diagnosis}`}`
    : hasBridge
      ? `Unity runs (process ${process?.pid}), and its bridge has not answered: it may still import assets.`
      : `Unity runs (process ${process?.pid}), and the project does not name the bridge's package in Packages/manifest.json: add it.`;
  return {
    ending: "goesOn",
    message: `The time is over. ${why} The Editor goes on; the same command waits for it.`,
    ...(process ? { tail: lastLines(process.log) } : {}),
  };
}

// The process of a launched Editor: started apart from the command, and noted, until it is connected, for the launches that follow.

interface EditorProcess {
  pid: number;
  log: LaunchLog;
  /** Why it has ended; undefined while it runs. */
  end(): string | undefined;
  /** It is connected, so that its endpoint file speaks for it, or it has ended: later launches need not wait for it. */
  forget(): void;
}

interface EditorStart {
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
