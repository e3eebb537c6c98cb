import { findRedisBinary } from "../../src/embedded-redis/binary.js";
import { defaultDirectories } from "../../src/embedded-redis/directories.js";
import { containerEngineAnswers } from "./redis-container.js";

/**
 * Looks once, before parallel test files would all look, for a container engine and for the Redis binary.
 *
 * The binary is needed in either case, since the embedded server has tests of its own. There is no teardown: each
 * test server ends with the process that started it (see `redis.ts`).
 */
export default async function setup(): Promise<void> {
  const { cacheDir } = defaultDirectories(process.env);
  const binary = await findRedisBinary({
    cacheDir,
    env: process.env,
    say: (message) => console.log(message),
  });
  const store = (await containerEngineAnswers()) ? "containers" : `${binary.file} ${binary.version}`;
  console.log(`Tests use Redis from ${store}.`);
}
