/** The background brokers that a test's clients have started. */
import { brokerFolders, readEndpoint } from "../../../src/cli/pipe/broker-place.js";
import { controlBroker } from "../../../src/cli/pipe/control-client.js";
import { connect, endBroker } from "../../../src/cli/pipe/reach-broker.js";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import type { BrokerStatus } from "../../../src/shared/pipe-frames.js";

/** Makes a test's clients and commands use one, which ends soon should the test forget it. */
export const BACKGROUND = { UNITY_BROKER_BACKGROUND: "true", UNITY_BROKER_REDIS_IDLE_MINUTES: "3" };

/** The process ids of those that run. */
export function runningBrokers(env: NodeJS.ProcessEnv): number[] {
  return brokerFolders(dataDirOf(env)).flatMap((folder) => readEndpoint(folder)?.pid ?? []);
}

/** What the only one of them says of itself. */
export async function brokerStatus(env: NodeJS.ProcessEnv): Promise<BrokerStatus> {
  const [endpoint] = brokerFolders(dataDirOf(env)).flatMap((folder) => readEndpoint(folder) ?? []);
  const socket = endpoint && (await connect(endpoint));
  if (!socket) throw new Error("no broker runs");
  return controlBroker(socket, "status", "0.0.0");
}

/** Answers what did not end as it should. */
export async function endBrokers(env: NodeJS.ProcessEnv): Promise<string[]> {
  const faults: string[] = [];
  for (const folder of brokerFolders(dataDirOf(env))) {
    const pid = readEndpoint(folder)?.pid;
    try {
      const how = await endBroker(folder, "0.0.0");
      if (how === "killed") faults.push(`the broker (process ${pid}) did not answer, and was killed`);
    } catch (error) {
      faults.push((error as Error).message);
      if (pid !== undefined) process.kill(pid, "SIGKILL");
    }
  }
  return faults;
}

function dataDirOf(env: NodeJS.ProcessEnv): string {
  return env.UNITY_BROKER_DATA_DIR ?? defaultDirectories(env).dataDir;
}
