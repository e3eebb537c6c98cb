/** The life of a background broker: it serves until it is asked to end, or until nobody has used it for a while. */
import type { Environment } from "../../embedded-redis/directories.js";
import {
  describeEmbeddedRedis,
  type EmbeddedRedisDescription,
  stopEmbeddedRedis,
} from "../../embedded-redis/embedded-redis.js";
import { startKeeper } from "../../embedded-redis/keeper-start.js";
import { createPlainClient } from "../../embedded-redis/plain-client.js";
import { BrokerError } from "../../shared/errors.js";
import { orderlyEnd } from "../../shared/store/schema.js";
import { noteLaunch } from "../clients/launch-note.js";
import { environment } from "../environment.js";
import { openLog, type Runtime, startServing } from "../processes/runtime.js";
import { readSettings } from "../processes/settings.js";
import type { LocalService } from "./local-service.js";
import { hasOpenOperations, mayHandOver, type Serving, serve, sessionOpener } from "./serving.js";

/** When a background broker has been unused for long enough to end. */

export interface IdleWatch {
  /** Resolves with "idle"; never if it may stay for ever. */
  readonly over: Promise<"idle">;
  close(): void;
}

/** Looks a few times in each idle time, and at least once a minute, so that the end is not late by much. */
const LOOKS = 4;
const LONGEST_PAUSE_MS = 60_000;

/** `idleMs` 0: it stays until it is ended. `isUsed` may fail while the store is away: that counts as used. */
function createIdleWatch({
  idleMs,
  isUsed,
  lastUsedAt,
}: {
  idleMs: number;
  isUsed: () => Promise<boolean>;
  /** Monotonic ms. */
  lastUsedAt: () => number;
}): IdleWatch {
  let timer: NodeJS.Timeout | undefined;
  let usedAt = performance.now();
  const over = new Promise<"idle">((resolve) => {
    if (idleMs === 0) return;
    const look = async (): Promise<void> => {
      if (await isUsed().catch(() => true)) usedAt = performance.now();
      const idleSince = Math.max(usedAt, lastUsedAt());
      if (performance.now() - idleSince >= idleMs) resolve("idle");
      else timer = setTimeout(() => void look(), Math.min(idleMs / LOOKS, LONGEST_PAUSE_MS));
    };
    void look();
  });
  return { over, close: () => clearTimeout(timer) };
}

const MINUTE = 60_000;

/** Resolves once it has given back everything; rejects if it cannot serve. */
export async function runInBackground(service: LocalService, signalled: Promise<string>): Promise<void> {
  const settings = readSettings();
  const idleMs = settings.config.UNITY_BROKER_REDIS_IDLE_MINUTES * MINUTE;
  const stopping = Promise.race([signalled, service.asked]);
  const log = openLog(settings);
  let isOpen = false;
  // The clients' requests go over to the broker that follows, also those that this one was too young for.
  void service.asked.then((what) => {
    if (what === "drain" && !isOpen) service.connections.cut();
  });
  const opening = startServing(settings, stopping, { log, keepsRedis: true }).then(
    (runtime) => runtime && { runtime, serving: serve(runtime) },
  );
  service.opens(
    sessionOpener(
      opening.then((opened) => {
        if (!opened) throw new BrokerError("BROKER_ENDED", "The broker was ended while it started.");
        return opened.serving.served;
      }),
      { log, config: settings.config },
    ),
    async () => {
      const opened = await opening;
      return !opened || mayHandOver(opened.runtime);
    },
  );
  const opened = await opening;
  if (!opened) return;
  isOpen = true;
  const { runtime, serving } = opened;
  service.announce({ kind: "ready", storeId: runtime.store.storeId() });
  noteLaunch();
  const idle = createIdleWatch({
    idleMs,
    isUsed: async () => service.connections.sessions().length > 0 || (await hasOpenOperations(runtime)),
    lastUsedAt: service.connections.lastUsedAt,
  });
  const why = await Promise.race([stopping, idle.over]);
  idle.close();
  runtime.log.info({ why }, "the broker ends");
  await end(service, { runtime, serving }, why);
  if (why === "idle" && settings.config.REDIS_URL === undefined) {
    const { dataDir } = settings;
    await releaseEmbeddedRedis({ dataDir, env: environment(), idleMs, lastCommand: orderlyEnd() });
  }
}

async function end(
  service: LocalService,
  { runtime, serving }: { runtime: Runtime; serving: Serving },
  why: string,
): Promise<void> {
  await service.leave();
  if (why === "drain") {
    // The Editors first: the broker that follows drives them while the clients come over.
    await serving.worker.close();
    service.connections.cut();
  } else {
    // Open waits first: to them an Editor that is let go looks as if it had closed.
    await service.connections.close();
  }
  await serving.close();
  await runtime.close();
}

// What a broker that ends because nobody used it does with the private Redis.

/** Ends it with its data kept, unless others are connected: then a keeper ends it once they have gone. */
async function releaseEmbeddedRedis(options: {
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
