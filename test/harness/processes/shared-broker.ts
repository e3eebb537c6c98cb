/** The one background broker of all pipes of an installation: its way to Redis, and its end by force and in order. */
import type { RedisLine } from "../redis/process-redis.js";
import { BACKGROUND, endBrokers, runningBrokers } from "./brokers.js";
import { type Processes, until } from "./processes.js";

export interface SharedBroker {
  /** Of this broker, and of each that follows it. */
  line(): Promise<RedisLine>;
  /** What a pipe needs to use it. */
  environment(): Promise<NodeJS.ProcessEnv>;
  /** Resolves with the id of the process that serves; rejects if no pipe has one started. */
  started(): Promise<number>;
  /** SIGKILL; the pipes start another, which finds its way to Redis whole. Resolves when this one is gone. */
  kill(pid: number): Promise<void>;
  /** In order, if one runs; rejects if it does not end. */
  end(): Promise<void>;
}

export function createSharedBroker(
  env: NodeJS.ProcessEnv,
  processes: Pick<Processes, "guard">,
  layLine: () => Promise<RedisLine>,
): SharedBroker {
  let laid: Promise<RedisLine> | undefined;
  const line = (): Promise<RedisLine> => {
    laid ??= layLine();
    return laid;
  };
  const environment = async (): Promise<NodeJS.ProcessEnv> => ({
    ...env,
    ...BACKGROUND,
    REDIS_URL: (await line()).url,
  });
  return {
    line,
    environment,
    async started() {
      const pid = await until("a broker serves", () => runningBrokers(env)[0]);
      processes.guard(pid);
      return pid;
    },
    async kill(pid) {
      process.kill(pid, "SIGKILL");
      await until(`broker ${pid} is gone`, () => !runningBrokers(env).includes(pid));
      (await line()).fix();
    },
    async end() {
      const faults = await endBrokers(env);
      if (faults.length > 0) throw new Error(faults.join("\n"));
    },
  };
}
