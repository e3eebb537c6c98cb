import { Redis } from "ioredis";
import { expect } from "vitest";
import { isFinal, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { BULL_PREFIX } from "../../../src/shared/store/keys.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { eventually } from "../eventually.js";
import { timersLeft } from "../processes/long-timers.js";
import type { TestRedis } from "../redis/redis.js";
import { faultsOfTimes } from "./record-times.js";

/** What must hold after every test, whatever it did. */
export async function verify(redis: TestRedis, editors: SimulatedEditor[], before: string[]): Promise<void> {
  const begun = editors.flatMap((editor) => editor.counter().map(({ operationId }) => operationId));
  expect(
    begun.filter((id, at) => begun.indexOf(id) !== at),
    "operations that began twice",
  ).toEqual([]);
  const hand = new Redis(redis.connection);
  try {
    const left: string[] = [];
    const listed = async (key: string) => {
      if (key.startsWith("{ujb}:open:")) return hand.zrange(key, 0, "-1");
      return /^{ujb}:(sent|resource):/.test(key) ? hand.hkeys(key) : hand.smembers(key);
    };
    for (const key of await hand.keys("{ujb}:*")) {
      if (!/^{ujb}:(open|waiting|sent|resource):/.test(key)) continue;
      for (const logId of await listed(key)) {
        const doc = await hand.hget(`{ujb}:operation:${logId}`, "doc");
        if (!doc || isFinal((JSON.parse(doc) as OperationRecord).state)) left.push(`${key} ${logId}`);
      }
    }
    expect(left, "ended operations that are still listed as open").toEqual([]);
    expect(await faultsOfTimes(hand), "operations whose times are out of order").toEqual([]);
    await eventually(async () => (await hand.keys("{ujb}:lease:*")).length === 0, "no lease is left");
    const locks = async () => (await hand.keys(`${BULL_PREFIX}:*:lock`)).length;
    await eventually(async () => (await locks()) === 0, "no job is locked");
  } finally {
    hand.disconnect();
  }
  // Clean for a while: who keeps trying to connect has nothing open between two attempts.
  let clean = 0;
  let last: string[] = [];
  await eventually(
    () => {
      const left = leftOver(before);
      if (left.length > 0) last = left;
      clean = left.length === 0 ? clean + 1 : 0;
      return clean >= 10;
    },
    () => [`nothing is open: ${last.join(", ")}`, ...timersLeft()].join("\n"),
  );
}

const LEAKABLE = /^(TCP|Pipe)|Timeout|FSEvent/;

export function openResources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => LEAKABLE.test(name));
}

function leftOver(before: string[]): string[] {
  const known = [...before];
  return openResources().filter((name) => {
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}
