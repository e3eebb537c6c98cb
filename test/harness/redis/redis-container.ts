import { once } from "node:events";
import { createServer } from "node:net";
import { awaitAnswer } from "../../../src/embedded-redis/redis-probe.js";
import type { TestRedis } from "./redis.js";

const IMAGE = "redis:7.4-alpine";
const REDIS_PORT = 6379;
const START_LIMIT_MS = 30_000;

/** Set once for a whole run by the global set-up, so that not every test file looks for an engine. */
const ENGINE_VARIABLE = "UNITY_BROKER_TEST_CONTAINERS";

/** Whether a container engine really runs Redis: an installed client alone does not count, nor one without images. */
export async function containerEngineAnswers(): Promise<boolean> {
  const known = process.env[ENGINE_VARIABLE];
  if (known) return known === "yes";
  const answers = await tryEngine();
  process.env[ENGINE_VARIABLE] = answers ? "yes" : "no";
  return answers;
}

async function tryEngine(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import("testcontainers");
  try {
    await getContainerRuntimeClient();
  } catch {
    return false;
  }
  try {
    const redis = await startContainerRedis();
    await redis.stop();
    return true;
  } catch (error) {
    console.log(`A container engine answers, but runs no ${IMAGE}: ${(error as Error).message}`);
    return false;
  }
}

/** Starts a Redis in a container, which testcontainers' reaper ends with this process at the latest. */
export async function startContainerRedis(): Promise<Omit<TestRedis, "flush">> {
  const { GenericContainer, getContainerRuntimeClient } = await import("testcontainers");
  // A port of our choice: the engine would give another one after each restart.
  const port = await freePort();
  const started = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: REDIS_PORT, host: port })
    .withCommand(["redis-server", "--appendonly", "yes", "--appendfsync", "always", "--save", ""])
    .start();
  const { container: engine } = await getContainerRuntimeClient();
  const container = engine.getById(started.getId());
  const connection = { host: started.getHost(), port };
  const awaitReady = async () => {
    const deadline = performance.now() + START_LIMIT_MS;
    const answer = await awaitAnswer(connection, () => performance.now() < deadline);
    if (answer !== "ready") throw new Error(`The test's Redis container did not start (${answer}).`);
  };
  const kill = async () => {
    const { State } = await container.inspect();
    if (!State.Running) return;
    const gone = container.wait();
    await container.kill({ signal: "SIGKILL" });
    await gone;
  };

  /** In the container, while it runs. */
  const shell = async (script: string): Promise<void> => {
    const { exitCode, output } = await started.exec(["sh", "-c", script]);
    if (exitCode !== 0) throw new Error(`in the test's Redis container: ${output}`);
  };
  let copies = 0;

  await awaitReady();
  let stopped = false;
  return {
    connection,
    kill,
    async restart() {
      await kill();
      await container.start();
      await awaitReady();
    },
    async copy() {
      copies += 1;
      await shell(`cp -r /data /copy-${copies}`);
      return `/copy-${copies}`;
    },
    async restore(copy) {
      // The server still writes, into files that are no longer there.
      await shell(`rm -rf /data/* && cp -r ${copy}/. /data/`);
      await kill();
      await container.start();
      await awaitReady();
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      await started.stop();
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await once(probe.listen(0, "127.0.0.1"), "listening");
  const address = probe.address();
  const closed = once(probe, "close");
  probe.close();
  await closed;
  if (typeof address !== "object" || !address) throw new Error("The system gave no port.");
  return address.port;
}
