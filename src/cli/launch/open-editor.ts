/** The Editor that has a project open: found by its endpoint file, and connected once the broker names the same process. */
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { identify } from "../../shared/machine/living-process.js";
import type { Log } from "../../shared/telemetry.js";
import { createEndpointFolder } from "../../worker/discovery/endpoint-folder.js";
import type { UnityProject } from "./project.js";

export interface OpenEditor {
  id: string;
  pid: number;
  unityVersion: string;
}

/** An Editor as list_editors shows it. */
export interface ListedEditor {
  id: string;
  connected?: boolean;
  pid?: number;
  session?: string;
  diagnosis?: { message?: string };
}

/** Finds the living Editor of the project. One call at a time. */
export function createOpenEditor(
  folder: string,
  project: UnityProject,
  log: Pick<Log, "debug" | "warn">,
): () => Promise<OpenEditor | undefined> {
  const endpoints = createEndpointFolder({
    folder,
    log,
    // Without an init process in a container, an Editor that has ended stays as a zombie.
    isAlive: (pid) => identify(pid) !== undefined,
  });
  return async () => {
    const found = (await endpoints.read()).find(
      (endpoint) => endpoint.editorId === project.editorId || samePath(endpoint.projectPath, project.path),
    );
    if (!found || isOfAnother(found.pid, found.pidStartedAt)) return undefined;
    return { id: found.editorId, pid: found.pid, unityVersion: found.unityVersion };
  };
}

/** This very process is connected: an older Editor of the project may still be listed under the same id. */
export function isConnected(editor: OpenEditor, listed: readonly ListedEditor[]): ListedEditor | undefined {
  return listed.find(
    ({ id, connected, pid }) => id === editor.id && connected === true && pid === editor.pid,
  );
}

function samePath(one: string, other: string): boolean {
  const [a, b] = [resolve(one), resolve(other)];
  return process.platform === "win32" ? a.toLowerCase() === b.toLowerCase() : a === b;
}

/** Clocks are set, and an Editor notes its start a while after its process has begun, ms. */
const SLACK_MS = 60_000;

/**
 * A process that began after the Editor with its id had noted its start: the machine or container has started again since, with
 * the same process ids. Known on Linux only.
 */
function isOfAnother(pid: number, startedAt: unknown): boolean {
  if (process.platform !== "linux" || typeof startedAt !== "number") return false;
  try {
    return statSync(`/proc/${pid}`).isDirectory() && beganAt(pid) > startedAt + SLACK_MS;
  } catch {
    return false;
  }
}

/** ms since the epoch, from ticks of 10 ms since the boot (proc(5)). */
function beganAt(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  const boot = Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]);
  return boot * 1000 + ticks * 10;
}
