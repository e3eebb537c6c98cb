/** Several gateways, workers and Editors, each a process, on one private Redis, with the test in every cable. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { fingerprintOf } from "../../src/shared/idempotency.js";
import type { Engine } from "../harness/editor-control.js";
import { openStdioClient, type StdioClient } from "../harness/process-clients.js";
import { layRedisLine, type RedisLine } from "../harness/process-redis.js";
import { environment } from "../harness/process-world.js";
import { createProcesses, type Processes, type RunningProcess, until } from "../harness/processes.js";
import { startTestRedis, type TestRedis } from "../harness/redis.js";
import { createListener, type Listener } from "../never-twice/answers.js";
import { type ChaosEditor, startChaosEditor } from "./editor.js";
import { createEndpointMirror, type EndpointMirror } from "./endpoint-mirror.js";
import { createEvents, type Events } from "./events.js";
import { type ChaosMember, layMember } from "./member.js";
import { createStoreCopies, type StoreCopies } from "./store-copies.js";
import { createWitness, type Witness } from "./witness.js";

export interface ChaosWorld {
  readonly processes: Processes;
  readonly redis: TestRedis;
  /** A connection of the test's own. */
  readonly hand: Redis;
  readonly copies: StoreCopies;
  readonly editors: readonly ChaosEditor[];
  readonly gateways: readonly ChaosMember[];
  readonly workers: readonly ChaosMember[];
  readonly events: Events;
  readonly witness: Witness;
  /** Hears every answer. */
  readonly listener: Listener;
  /** Living stdio processes, each with a worker in it. */
  readonly stdio: Set<StdioClient>;
  urlOf(gateway: ChaosMember): string;
  newStdio(): Promise<StdioClient>;
  /** Ends everything; what went wrong meanwhile. */
  close(): Promise<string[]>;
}

export interface ChaosWorldOptions {
  /** Of the Editors with a ledger; the plain one is always simulated. */
  engine: Engine;
  gateways: number;
  workers: number;
  editors: number;
}

/**
 * A dozen processes on two cores: a shorter lease would be lost by waiting for a core.
 * The replay window is longer than a run: that a call may be a new wish after the replay window is another test's matter. One principal
 * calls for all, so its caps are out of the way.
 */
const PATIENT = {
  UNITY_BROKER_LEASE_MS: "2000",
  UNITY_BROKER_JOB_LOCK_MS: "2500",
  UNITY_BROKER_REPLAY_MINUTES: "600",
  // Callers leave their sessions behind without a word.
  UNITY_BROKER_SESSION_IDLE_MINUTES: String(5 / 60),
  UNITY_BROKER_MAX_RUNNING: "500",
  UNITY_BROKER_MAX_QUEUED: "5000",
  UNITY_BROKER_LOG_LEVEL: "info",
};

/** Without what the broker itself takes. */
function fingerprintOfCall(tool: string, args: Record<string, unknown>): string {
  const { timeout: _timeout, editor: _editor, force_new: _force, ...own } = args;
  return fingerprintOf(tool, own);
}

const START_LIMIT_MS = 60_000;
const HAND_MS = 10_000;

export async function startChaosWorld(options: ChaosWorldOptions): Promise<ChaosWorld> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-chaos-"));
  const redis = await startTestRedis();
  // A command that was on its way when the server was killed may never be answered.
  const patience = { retryStrategy: () => 100, maxRetriesPerRequest: null, commandTimeout: HAND_MS };
  const hand = new Redis({ ...redis.connection, ...patience });
  hand.on("error", () => undefined);
  const processes = createProcesses();
  const events = createEvents();
  const witness = createWitness();
  const stdio = new Set<StdioClient>();
  const editors: ChaosEditor[] = [];
  const members: ChaosMember[] = [];
  const lines: RedisLine[] = [];
  const urls = new Map<string, string>();
  const env = environment(folder, PATIENT);
  /** Names of processes that did not start because their store was away; whoever started them tries again. */
  const storeless = new Set<string>();
  let mirror: EndpointMirror | undefined;
  let starts = 0;

  const close = async (): Promise<string[]> => {
    const faults = await processes.close();
    mirror?.close();
    for (const { line } of members) await line.close();
    for (const line of lines) await line.close();
    for (const editor of editors) await editor.close();
    hand.disconnect();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
    return faults.filter(
      (fault) => ![...storeless].some((name) => fault.startsWith(`${name} ended unasked`)),
    );
  };
  /** As a supervisor does, until it serves. */
  const supervise = async (
    name: string,
    args: string[],
    environment: NodeJS.ProcessEnv,
    serves: RegExp,
  ): Promise<{ started: RunningProcess; line: RegExpExecArray }> => {
    for (;;) {
      starts += 1;
      const started = processes.start(`${name} (start ${starts})`, args, environment);
      const line = await started.line(serves).catch(() => undefined);
      if (line) return { started, line };
      storeless.add(started.name);
    }
  };

  /** Stdio processes share one way to the Editors. */
  const stdioWorker = options.workers;
  const workerEnv = (worker: number): NodeJS.ProcessEnv => ({
    ...env,
    UNITY_BROKER_EDITORS_DIR: mirror?.folderOf(worker),
    UNITY_BROKER_EDITORS: editors
      .filter(({ plain }) => plain)
      .map(({ name, cables }) => `${name}=127.0.0.1:${cables[0]?.port}`)
      .join(","),
  });
  const layWorker = (number: number): Promise<ChaosMember> => {
    const name = `w${number + 1}`;
    return layMember(
      { processes, redis, folder, env: workerEnv(number) },
      { name, isLongLived: number === 0 },
      async (environment) => (await supervise(name, ["worker"], environment, /^Worker for/)).started,
    );
  };
  const layGateway = (number: number): Promise<ChaosMember> => {
    const name = `g${number + 1}`;
    return layMember(
      { processes, redis, folder, env },
      { name, isLongLived: number === 0 },
      async (environment) => {
        // Clients come back to the address that they know.
        const port = new URL(urls.get(name) ?? "http://127.0.0.1:0").port || "0";
        const args = ["gateway", "--port", port, "--insecure-local"];
        const { started, line } = await supervise(name, args, environment, /^MCP endpoint: (.*)$/);
        urls.set(name, line[1] ?? "");
        return started;
      },
    );
  };

  try {
    for (let number = 0; number <= options.editors; number += 1) {
      const plain = number === options.editors;
      const cables = plain ? 1 : options.workers + 1;
      editors.push(
        await startChaosEditor(processes, witness, {
          ...{ name: `E${number + 1}`, engine: plain ? "typescript" : options.engine, plain },
          ...{ folder, env: { ...env, UNITY_BROKER_EDITORS_DIR: join(folder, "endpoints") }, cables },
        }),
      );
    }
    mirror = createEndpointMirror(
      join(folder, "endpoints"),
      folder,
      options.workers + 1,
      (editorId, worker) => editors.find(({ id }) => id === editorId)?.cables[worker]?.port,
    );
    for (let number = 0; number < options.workers; number += 1) members.push(await layWorker(number));
    for (let number = 0; number < options.gateways; number += 1) members.push(await layGateway(number));
    for (const member of members) await member.start();

    const known = await until(
      "every Editor is known",
      async () => {
        const ids = await hand.zrange("{ujb}:editors", 0, "-1");
        return ids.length === editors.length && ids;
      },
      START_LIMIT_MS,
    );
    const plainId = known.find((id) => editors.every((editor) => editor.id !== id));
    return {
      ...{ processes, redis, hand, events, witness, stdio, close },
      listener: createListener(fingerprintOfCall),
      copies: createStoreCopies(redis, hand, folder),
      // Nobody but the workers gives a plain Editor its name.
      editors: editors.map((editor) =>
        editor.plain ? Object.defineProperty(editor, "id", { value: plainId ?? editor.id }) : editor,
      ),
      workers: members.filter(({ name }) => name.startsWith("w")),
      gateways: members.filter(({ name }) => name.startsWith("g")),
      urlOf: ({ name }) => urls.get(name) ?? "",
      async newStdio() {
        starts += 1;
        const name = `mcp (start ${starts})`;
        const line = await layRedisLine(redis.connection);
        lines.push(line);
        const environment = { ...workerEnv(stdioWorker), REDIS_URL: line.url };
        const started = processes.start(name, ["mcp"], environment);
        try {
          const client = await openStdioClient(started);
          stdio.add(client);
          void client.process.ended.then(() => stdio.delete(client));
          return client;
        } catch (error) {
          storeless.add(started.name);
          throw error;
        }
      },
    };
  } catch (error) {
    console.error(processes.logs());
    await close();
    throw error;
  }
}
