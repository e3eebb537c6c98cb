/** Connections that follow the master which Sentinels name. */
import type { SentinelConnectionOptions } from "ioredis";
import type { NetStream } from "ioredis/built/types.js";
import type { HostAndPort } from "../redis-url.js";
import { SentinelConnector } from "./libraries.js";

/** What ioredis and BullMQ need to find the master. */
export interface ThroughSentinels {
  sentinels: HostAndPort[];
  /** By which they know the master. */
  name: string;
  /** A master that hangs never ends its connections: they are left when a Sentinel says that there is another. */
  failoverDetector: true;
  Connector: new (options: unknown) => SentinelConnector;
  /** ms; a machine that is gone refuses nothing. */
  connectTimeout: number;
  sentinelCommandTimeout: number;
}

export function throughSentinels(sentinels: readonly HostAndPort[], name: string): ThroughSentinels {
  return {
    ...{ sentinels: [...sentinels], name, failoverDetector: true, Connector: FollowingConnector },
    ...{ connectTimeout: 3_000, sentinelCommandTimeout: 2_000 },
  };
}

/**
 * ioredis watches the Sentinels on behalf of one connection, and goes on when that has ended by itself: their message then
 * interrupts the next attempt to connect, after which ioredis makes no other, ever.
 */
class FollowingConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  override async connect(...given: Parameters<SentinelConnector["connect"]>): Promise<NetStream> {
    const stream = await super.connect(...given);
    stream.once("close", () => {
      const { failoverDetector } = this as unknown as { failoverDetector: { cleanup(): void } | null };
      failoverDetector?.cleanup();
    });
    return stream;
  }
}
