/** A gateway or worker process of a chaos run: its way to Redis, its clock and its memory. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { layRedisLine, type RedisLine } from "../harness/process-redis.js";
import { createMember, type Member } from "../harness/process-world.js";
import { type Processes, type RunningProcess, until } from "../harness/processes.js";
import type { TestRedis } from "../harness/redis.js";

export interface ChaosMember extends Member {
  readonly name: string;
  /** It is hung, cut off and given another clock, but never killed: its memory is looked at. */
  readonly isLongLived: boolean;
  /** Its wall clock is so much off from now on, ms. */
  shiftClock(ms: number): void;
  /** What is left in use after a garbage collection, bytes. */
  memory(): Promise<number>;
  /** Open sockets, as the system counts them; undefined where it does not say. */
  sockets(): number | undefined;
}

/** The whole environment of one of our processes. */
export type EnvironmentOf = (line: RedisLine, folder: string) => NodeJS.ProcessEnv;

const PRELOAD = new URL("./preload.mjs", import.meta.url);

export async function layMember(
  deps: { processes: Processes; redis: TestRedis; folder: string; env: NodeJS.ProcessEnv },
  options: { name: string; isLongLived: boolean },
  begin: (env: NodeJS.ProcessEnv) => Promise<RunningProcess>,
): Promise<ChaosMember> {
  const { name, isLongLived } = options;
  const folder = join(deps.folder, name);
  mkdirSync(folder, { recursive: true });
  const line = await layRedisLine(deps.redis.connection);
  const member = createMember(line, () =>
    begin({
      ...deps.env,
      REDIS_URL: line.url,
      CHAOS_FOLDER: folder,
      NODE_OPTIONS: `--import=${PRELOAD.href}`,
    }),
  );
  return {
    name,
    isLongLived,
    line,
    get process() {
      return member.process;
    },
    get isRunning() {
      return member.isRunning;
    },
    kill: member.kill,
    start: member.start,
    shiftClock: (ms) => writeFileSync(join(folder, "clock"), String(Math.round(ms))),
    async memory() {
      const file = join(folder, "memory");
      rmSync(file, { force: true });
      member.process.signal("SIGUSR2");
      await until(`${name} tells its memory`, () => existsSync(file));
      return Number(readFileSync(file, "utf8"));
    },
    sockets: () => socketsOf(member.process.pid),
  };
}

function socketsOf(pid: number): number | undefined {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith("socket:");
    } catch {
      // Closed since the folder was read.
      return false;
    }
  }).length;
}
