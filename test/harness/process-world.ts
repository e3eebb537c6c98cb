/** A broker as it is installed: a private Redis, one simulated Editor, a worker and a gateway, each a process. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type ControlledEditor, type Engine, startControlledEditor } from "./editor-control.js";
import { type HttpClient, openHttpClient, openStdioClient, type StdioClient } from "./process-clients.js";
import { layRedisLine, type RedisLine } from "./process-redis.js";
import { createProcesses, MAIN, type Processes, type RunningProcess, until } from "./processes.js";
import { faultsOfTimes } from "./record-times.js";
import { startTestRedis, type TestRedis } from "./redis.js";

export interface Execution {
  operationId: string;
  what: string;
  at: number;
}

/** The Editor's own account, and its faults (src/simulator/control.ts). */
export interface EditorControl {
  /** The simulator; of the C# bridge, whose process it is a child of. */
  readonly process: RunningProcess;
  readonly editorId: string;
  readonly counterFile: string;
  readonly do: ControlledEditor["do"];
  /** Every execution that ever began of tools with this label; all when left out. */
  executions(what?: string): Promise<Execution[]>;
}

/** A process that can be ended and started again, with its own way to Redis. */
export interface Member {
  readonly line: RedisLine;
  readonly process: RunningProcess;
  readonly isRunning: boolean;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again if it does not run; resolves when it serves. */
  start(): Promise<void>;
}

export interface World {
  readonly processes: Processes;
  readonly redis: TestRedis;
  /** A connection of the test's own: what a hand or a dashboard may do. */
  readonly hand: Redis;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly editor: EditorControl;
  readonly worker: Member;
  readonly gateway: Member;
  url(): string;
  /** A new session over HTTP, at the gateway's own address or another way to it. */
  http(address?: () => string): Promise<HttpClient>;
  /** A new stdio process, with a worker in it as users have it. */
  stdio(): Promise<StdioClient>;
  /** The same for a client that starts the process itself. */
  stdioServer(): Promise<{ command: string; args: string[]; env: Record<string, string> }>;
  /** Ends everything; rejects when something did not end as it should, or something is left. */
  close(): Promise<void>;
}

/** Short, so that a dead owner is replaced soon; long enough for a machine whose cores are all busy. */
const FAST = {
  UNITY_BROKER_LEASE_MS: "1000",
  UNITY_BROKER_JOB_LOCK_MS: "1500",
  UNITY_BROKER_ACK_DELAY_MS: "200",
  UNITY_BROKER_SWEEP_MS: "500",
  UNITY_BROKER_SAFETY_POLL_MS: "2000",
  UNITY_BROKER_LOG_LEVEL: "debug",
};

export interface WorldOptions {
  /** Default typescript. */
  engine?: Engine;
  /** On top of the fast timings; an empty value gives the default of an installation back. */
  env?: Record<string, string>;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-never-twice-"));
  const redis = await startTestRedis();
  const hand = new Redis({ ...redis.connection, retryStrategy: () => 100, maxRetriesPerRequest: null });
  hand.on("error", () => undefined);
  const processes = createProcesses();
  const lines: RedisLine[] = [];
  const layLine = async (): Promise<RedisLine> => {
    const line = await layRedisLine(redis.connection);
    lines.push(line);
    return line;
  };
  const env = environment(folder, options.env);
  const withRedis = (line: RedisLine): NodeJS.ProcessEnv => ({ ...env, REDIS_URL: line.url });

  const end = async (): Promise<string[]> => {
    const faults = await processes.close();
    for (const line of lines) await line.close();
    return faults;
  };
  const discard = async (): Promise<void> => {
    hand.disconnect();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  };

  try {
    const editor = await startEditor(processes, folder, env, options.engine ?? "typescript");
    const workerLine = await layLine();
    const worker = createMember(workerLine, async () => {
      const started = processes.start("worker", ["worker"], withRedis(workerLine));
      await started.line(/^Worker for/);
      return started;
    });
    const gatewayLine = await layLine();
    let url = "";
    const gateway = createMember(gatewayLine, async () => {
      // Clients come back to the address that they know.
      const port = url === "" ? "0" : new URL(url).port;
      const started = processes.start(
        "gateway",
        ["gateway", "--port", port, "--insecure-local"],
        withRedis(gatewayLine),
      );
      url = (await started.line(/^MCP endpoint: (.*)$/))[1] ?? "";
      return started;
    });
    await worker.start();
    await gateway.start();

    let stdioCount = 0;
    const world: World = {
      processes,
      redis,
      hand,
      folder,
      env,
      editor,
      worker,
      gateway,
      url: () => url,
      http: (address = () => url) => openHttpClient(address),
      async stdio() {
        stdioCount += 1;
        const line = await layLine();
        return openStdioClient(processes.start(`mcp ${stdioCount}`, ["mcp"], withRedis(line)));
      },
      async stdioServer() {
        const environment = Object.entries(withRedis(await layLine()));
        const env = Object.fromEntries(environment.map(([name, value]) => [name, value ?? ""]));
        return { command: process.execPath, args: [MAIN, "mcp"], env };
      },
      async close() {
        const faults = await end();
        try {
          faults.push(...(await leftInRedis(hand)), ...(await faultsOfTimes(hand)));
        } finally {
          await discard();
        }
        if (faults.length > 0)
          throw new Error(`left behind or ended badly:\n${faults.join("\n")}\n${processes.logs()}`);
      },
    };
    const first = await world.http();
    await toolsAreKnown(first);
    await first.close();
    return world;
  } catch (error) {
    console.error(processes.logs());
    await end();
    await discard();
    throw error;
  }
}

/** Resolves when the Editor's tools are listed. */
export async function toolsAreKnown(client: {
  request(method: string): Promise<Record<string, unknown>>;
}): Promise<string[]> {
  return until("the Editor's tools are listed", async () => {
    const { tools } = (await client.request("tools/list")) as { tools: { name: string }[] };
    const names = tools.map(({ name }) => name);
    return names.includes("execute-menu-item") && names;
  });
}

/** A clean environment: nothing of the machine's own Unity Editors, Redis or configuration. */
export function environment(folder: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(UNITY_BROKER_|REDIS_URL|NODE_OPTIONS|VITEST|NODE_ENV)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    UNITY_BROKER_EDITORS_DIR: join(folder, "editors"),
    ...FAST,
    ...extra,
  };
}

async function startEditor(
  processes: Processes,
  folder: string,
  env: NodeJS.ProcessEnv,
  engine: Engine,
): Promise<EditorControl> {
  const counterFile = join(folder, "executions.log");
  const args = ["--project", join(folder, "Project"), "--counter-file", counterFile];
  const editor = await startControlledEditor(
    processes,
    engine,
    [...args, "--ledger-folder", join(folder, "ledger")],
    env,
  );
  return {
    process: editor.process,
    editorId: editor.editorId,
    counterFile,
    do: editor.do,
    async executions(what) {
      const { executions } = (await editor.do({ do: "status" })) as unknown as { executions: Execution[] };
      return what === undefined ? executions : executions.filter((execution) => execution.what === what);
    },
  };
}

export function createMember(line: RedisLine, begin: () => Promise<RunningProcess>): Member {
  let current: RunningProcess | undefined;
  return {
    line,
    get process() {
      if (!current) throw new Error("it was never started");
      return current;
    },
    get isRunning() {
      return current?.isRunning === true;
    },
    async kill() {
      await current?.kill("SIGKILL");
    },
    async start() {
      line.mend();
      if (current?.isRunning) return;
      current = await begin();
    },
  };
}

/** Operations that nobody will end, and leases of owners that are gone: a dead owner's lease runs out by itself. */
async function leftInRedis(hand: Redis): Promise<string[]> {
  const open = await hand.keys("{ujb}:open:*");
  const leases = await until(
    "the leases of killed owners have run out",
    async () => {
      const left = await hand.keys("{ujb}:lease:*");
      return left.length === 0 && left;
    },
    2 * Number(FAST.UNITY_BROKER_LEASE_MS),
  ).catch(() => hand.keys("{ujb}:lease:*"));
  return [...open, ...leases].map((key) => `left in Redis: ${key}`);
}
