/** What a broker that ends because nobody used it does with the private Redis. */
import type { Environment } from "./directories.js";
import { describeEmbeddedRedis, type EmbeddedRedisDescription, stopEmbeddedRedis } from "./embedded-redis.js";
import { startKeeper } from "./keeper-start.js";
import { createPlainClient } from "./plain-client.js";

/** Ends it with its data kept, unless others are connected: then a keeper ends it once they have gone. */
export async function releaseEmbeddedRedis(options: {
  readonly dataDir: string;
  readonly env: Environment;
  readonly idleMs: number;
  readonly lastCommand: readonly string[];
}): Promise<void> {
  const { server, directory } = await describeEmbeddedRedis(options);
  if (!server) return;
  if ((await othersAt(server)) === 0) {
    await stopEmbeddedRedis(options);
    return;
  }
  const { idleMs, lastCommand, env } = options;
  startKeeper({ address: server.address, idleMs, lastCommand }, { env, directory });
}

async function othersAt({ address }: NonNullable<EmbeddedRedisDescription["server"]>): Promise<number> {
  const client = createPlainClient(address);
  try {
    return (await client.command("CLIENT", "LIST")).trim().split("\n").length - 1;
  } finally {
    client.close();
  }
}
