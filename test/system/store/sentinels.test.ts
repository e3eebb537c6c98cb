/** A store behind Sentinels; whole failovers are played by test/proofs/store-failover.test.ts. */
import { afterEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "../../../src/shared/store/store.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { startRedisSite } from "../../harness/redis/redis-site.js";
import { startSentinelPeer } from "../../harness/redis/sentinel-peer.js";
import { layCable } from "../../harness/system/cable.js";

const closers: (() => unknown)[] = [expectNoLeak];
afterEach(async () => {
  for (const close of closers.splice(1).reverse()) await close();
  expectNoLeak();
});

async function open(...ports: number[]): Promise<Store> {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
  const store = await openStore(`redis+sentinel://${hosts}/main`, { retentionMs: 60_000 });
  closers.push(() => store.close());
  return store;
}

async function peer(masterPort: number | undefined) {
  const sentinel = await startSentinelPeer(masterPort);
  closers.push(sentinel.close);
  return sentinel;
}

async function lineToRedis() {
  const site = await startRedisSite();
  closers.push(() => site.stop());
  const line = await layCable(() => site.connection as { host: string; port: number });
  closers.push(line.close);
  return line;
}

describe("a store behind Sentinels", () => {
  it("is found by the second of them when the first does not answer", async () => {
    const line = await lineToRedis();
    const gone = await startSentinelPeer(undefined);
    await gone.close();
    const store = await open(gone.port, (await peer(line.port)).port);
    expect(store.redisCheck.describes).toMatch(/AOF everysec/);
  });

  it("is reached again when the message of another master comes while it is looked for", async () => {
    const line = await lineToRedis();
    const sentinel = await peer(line.port);
    const store = await open(sentinel.port);
    const asked = sentinel.asked();
    line.cut();
    await asked;
    sentinel.announce();
    sentinel.answer();
    line.fix();
    await eventually(
      () =>
        store.operations.now().then(
          () => true,
          () => false,
        ),
      "the store answers again",
    );
  });

  it("leaves a master that hangs when a Sentinel names another", async () => {
    const line = await lineToRedis();
    const sentinel = await peer(line.port);
    const store = await open(sentinel.port);
    line.hold();
    const asked = sentinel.asked();
    sentinel.announce();
    await asked;
    // The next connections go to a master that works.
    line.cut();
    line.fix();
    sentinel.answer();
    expect(await store.operations.now()).toBeTruthy();
  });

  it("that none of them knows, or none answers for, is refused with what was tried", async () => {
    const sentinel = await peer(undefined);
    await expect(open(sentinel.port)).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(
        /master main, by the Sentinels 127\.0\.0\.1:\d+: .*no master of this name/,
      ),
    });
    await sentinel.close();
    closers.pop();
    await expect(open(sentinel.port)).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/failed to connect to sentinel 127\.0\.0\.1:\d+/),
    });
  });
});
