/** A user's machine: Editors, and clients that start `unity-broker mcp`; nothing serves before the first of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultDirectories } from "../../../../src/embedded-redis/directories.js";
import { ensureEmbeddedRedis } from "../../../../src/embedded-redis/embedded-redis.js";
import type { RedisAddress } from "../../../../src/shared/store/connect.js";
import { endBrokers, runningBrokers } from "../../../harness/processes/brokers.js";
import { openStdioClient, type StdioClient } from "../../../harness/processes/process-clients.js";
import { createProcesses, MAIN, until } from "../../../harness/processes/processes.js";
import { createDataDirectory } from "../../../harness/redis/redis.js";
import type { Closers } from "../closers.js";
import { environment } from "../environment.js";
import { startOwnProcess } from "../floors/child-process.js";
import { type EditorSettings, QUICK_TOOL } from "../quick-tool.js";
import { createExecutionCount } from "./execution-count.js";

export interface Home {
  /** The Editors' ids. */
  readonly editors: readonly string[];
  /** The folders that its processes name, in their arguments or their environment. */
  readonly folders: readonly string[];
  /** A new client, greeted. */
  client(): Promise<StdioClient>;
  /** Resolves with the broker's process id. */
  broker(): Promise<number>;
  /** SIGKILL; resolves when it is gone. */
  killBroker(): Promise<void>;
  /** In order; its private Redis stays. */
  endBroker(): Promise<void>;
  /** `unity-broker down`: its private Redis as well. */
  down(): Promise<void>;
  /** How often its Editors began the tool that `called` calls. */
  executions(): number;
  /** Of its private Redis, which is started if it does not run. */
  redis(): Promise<RedisAddress>;
}

export async function openHome(closers: Closers, { editors: count = 1 } = {}): Promise<Home> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-bench-"));
  closers.add(() => rmSync(folder, { recursive: true, force: true }));
  const data = createDataDirectory();
  closers.add(() => data.remove());
  const { dataDir } = data;
  const { cacheDir } = defaultDirectories(process.env);
  const env = environment(folder, dataDir, cacheDir);
  closers.add(() => endBrokers(env));
  const processes = createProcesses();
  closers.add(() => processes.close());
  const editorsFolder = env.UNITY_BROKER_EDITORS_DIR ?? "";
  const folders = Array.from({ length: count }, (_, at) => (at === 0 ? folder : join(folder, `${at}`)));
  const startEditor = async (of: string): Promise<string> => {
    const settings: EditorSettings = { folder: of, editorsFolder };
    const file = new URL("../editor-process.ts", import.meta.url);
    const editor = startOwnProcess<{ editorId: string }>(file, settings, env);
    processes.guard(editor.pid);
    closers.add(editor.close);
    return (await editor.ready).editorId;
  };
  const editors = await Promise.all(folders.map(startEditor));
  const counters = folders.map((each) => createExecutionCount(join(each, "ledger", "executions.log")));

  const endBroker = async (): Promise<void> => {
    const faults = await endBrokers(env);
    if (faults.length > 0) throw new Error(faults.join("\n"));
  };
  const broker = async (): Promise<number> => {
    const pid = await until("a broker serves", () => runningBrokers(env)[0]);
    processes.guard(pid);
    return pid;
  };
  return {
    editors,
    folders: [folder, dataDir],
    client: () => openStdioClient(processes.start("mcp", ["mcp"], env)),
    ...{ broker, endBroker },
    async killBroker() {
      const pid = await broker();
      process.kill(pid, "SIGKILL");
      await until("it is gone", () => !runningBrokers(env).includes(pid));
    },
    async down() {
      const [code] = await once(spawn(process.execPath, [MAIN, "down"], { env, stdio: "ignore" }), "exit");
      if (code !== 0) throw new Error(`down: exit code ${code}`);
    },
    executions: () => counters.reduce((sum, count) => sum + count(), 0),
    redis: async () => (await ensureEmbeddedRedis({ dataDir, cacheDir, env, say: console.error })).address,
  };
}

/** Rejects if the Editor's tools are not in the client's list. */
export async function listed(client: StdioClient): Promise<void> {
  const { tools } = (await client.request("tools/list")) as { tools: { name: string }[] };
  if (!tools.some(({ name }) => name === QUICK_TOOL)) throw new Error("the Editor's tools are not listed");
}

let lastText = 0;

/** How many calls of `called` have begun in this process. */
export const callsBegun = (): number => lastText;

/** A call that changes something and ends at once; ms until its answer. `editor`: where there are several. */
export async function called(client: StdioClient, editor?: string): Promise<number> {
  lastText += 1;
  const begun = performance.now();
  const reported = await client.call(QUICK_TOOL, {
    Text: `note ${lastText}`,
    timeout: 30,
    ...(editor === undefined ? {} : { editor }),
  });
  if (reported.status !== "completed") throw new Error(`not completed: ${JSON.stringify(reported)}`);
  return performance.now() - begun;
}

/** `node -e 0`, ms until it has ended. */
export async function bareNode(): Promise<number> {
  const begun = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - begun;
}
