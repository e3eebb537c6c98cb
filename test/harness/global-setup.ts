import { findRedisBinary } from "../../src/embedded-redis/binary.js";
import { defaultDirectories } from "../../src/embedded-redis/directories.js";

/** Obtains the Redis binary once, so that parallel test files find it in place. */
export default async function setup(): Promise<void> {
  const { cacheDir } = defaultDirectories(process.env);
  await findRedisBinary({ cacheDir, env: process.env, say: (message) => console.log(message) });
}
