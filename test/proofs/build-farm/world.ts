/** A build farm: Editors of two pools on three machines, each with a worker, two gateways before them, one Redis. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type CounterLine, createCounterFile } from "../../../src/simulator/ledger/counter-file.js";
import { type ControlledEditor, startControlledEditor } from "../../harness/editor/editor-control.js";
import {
  type GatewayMember,
  type Installation,
  type Member,
  openInstallation,
} from "../../harness/processes/installation.js";
import { MAIN, until } from "../../harness/processes/processes.js";
import { layRedisLine } from "../../harness/redis/process-redis.js";

export const POOLS = ["android", "ios"] as const;
export type Pool = (typeof POOLS)[number];

export interface FarmEditor {
  readonly name: string;
  readonly pool: Pool;
  /** Faults leave it alone: its share of the work is compared with that of others like it. */
  readonly isSteady: boolean;
  readonly isRunning: boolean;
  /** Rejects when the Editor is gone. */
  do(command: { do: string }): Promise<Record<string, unknown>>;
  /** SIGKILL. */
  crash(): Promise<void>;
  /** As a user ends it. */
  quit(): Promise<void>;
  /** The next Editor of this project, with its ledger. */
  start(): Promise<void>;
  /** What it has begun, by its own account. */
  executions(): CounterLine[];
  id(): string;
}

/** What a person types. */
export type Operator = (...args: string[]) => Promise<void>;

export interface Farm extends Pick<Installation, "processes" | "redis" | "hand" | "close"> {
  readonly editors: readonly FarmEditor[];
  readonly workers: readonly Member[];
  readonly gateways: readonly GatewayMember[];
  /** `unity-broker …`, to its end; rejects with what it said. */
  readonly operator: Operator;
}

/** One principal calls for all, so its caps are out of the way. */
const PATIENT = {
  UNITY_BROKER_LEASE_MS: "2000",
  UNITY_BROKER_JOB_LOCK_MS: "2500",
  UNITY_BROKER_REPLAY_MINUTES: "600",
  UNITY_BROKER_MAX_RUNNING: "500",
  UNITY_BROKER_MAX_QUEUED: "5000",
  UNITY_BROKER_SESSION_IDLE_MINUTES: String(5 / 60),
  UNITY_BROKER_LOG_LEVEL: "info",
};

const MACHINES = 3;
/** Of each pool. */
const EDITORS = 3;
const STEADY = 2;
const GATEWAYS = 2;

export async function startFarm(): Promise<Farm> {
  const installation = await openInstallation({ env: PATIENT, isSupervised: true });
  const { processes, redis, hand, folder, env } = installation;
  const onMachine = (machine: number): NodeJS.ProcessEnv => ({
    UNITY_BROKER_EDITORS_DIR: join(folder, `machine-${machine}`, "editors"),
  });

  const editorOf = (pool: Pool, number: number, machine: number): FarmEditor => {
    const name = `${pool}-${number + 1}`;
    const own = join(folder, name);
    const counter = createCounterFile(join(own, "executions.log"));
    const args = [
      ...["--project", join(own, name), "--labels", pool, "--counter-file", counter.file],
      ...["--ledger-folder", join(own, "ledger")],
    ];
    let current: ControlledEditor | undefined;
    let isRunning = false;
    let id = "";
    const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
      isRunning = false;
      await current?.process.kill(signal);
    };
    return {
      ...{ name, pool, isSteady: number < STEADY },
      get isRunning() {
        return isRunning;
      },
      do: async (command) => (await current?.do(command)) ?? {},
      crash: () => end("SIGKILL"),
      quit: () => end("SIGTERM"),
      async start() {
        if (isRunning) return;
        current = await startControlledEditor(processes, "typescript", args, {
          ...env,
          ...onMachine(machine),
        });
        id = current.editorId;
        isRunning = true;
      },
      executions: counter.lines,
      id: () => id,
    };
  };

  const line = await layRedisLine(redis.connection);
  const operator: Operator = async (...args) =>
    void (await promisify(execFile)(process.execPath, [MAIN, ...args], {
      env: { ...env, REDIS_URL: line.url },
    }));
  const close = async (): Promise<string[]> => {
    await line.close();
    return installation.close();
  };

  const editors = POOLS.flatMap((pool, at) =>
    Array.from({ length: EDITORS }, (_, number) => editorOf(pool, number, (at + number) % MACHINES)),
  );
  try {
    const workers: Member[] = [];
    for (let machine = 0; machine < MACHINES; machine += 1)
      workers.push(await installation.worker(`worker ${machine + 1}`, onMachine(machine)));
    const gateways: GatewayMember[] = [];
    for (let at = 0; at < GATEWAYS; at += 1) gateways.push(await installation.gateway(`gateway ${at + 1}`));
    for (const each of [...editors, ...workers, ...gateways]) await each.start();
    await until(
      "every Editor is known",
      async () => (await hand.zcard("{ujb}:editors")) === editors.length,
      60_000,
    );
    return { processes, redis, hand, editors, workers, gateways, operator, close };
  } catch (error) {
    console.error(processes.logs());
    await close().catch(() => undefined);
    throw error;
  }
}
