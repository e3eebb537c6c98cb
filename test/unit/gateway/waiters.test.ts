import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createWaiters } from "../../../src/gateway/exchange.js";
import type { Notifier } from "../../../src/shared/store/connect.js";

/** The safety net hangs an hour below: what looks again was woken. */
const HOUR = 3_600_000;

function createNewsByHand() {
  const reported: Record<string, (subject: string) => void> = {};
  let heard: (() => void) | undefined;
  const notifier: Pick<Notifier, "on"> = {
    on(channel, listener, onHeard) {
      reported[channel] = listener;
      if (channel === "changed") heard = onHeard;
      return () => delete reported[channel];
    },
  };
  return {
    notifier,
    tell: (channel: string) => reported[channel]?.("a"),
    subscribed: () => heard?.(),
    reported,
  };
}

test("who follows looks again once the subscription stands: what changed before was not reported", async () => {
  const { notifier, subscribed, reported } = createNewsByHand();
  const waiters = createWaiters(notifier, { safetyPollMs: HOUR });
  let hasChanged = false;
  const wait = waiters.until("a", async () => hasChanged || undefined, { ms: HOUR, follows: true });
  hasChanged = true;
  subscribed();
  expect(await wait).toBe(true);
  expect(Object.keys(reported)).toEqual(["ended"]);
  waiters.close();
});

test("who waits for the end is woken by the end, and hears of nothing else", async () => {
  const { notifier, tell, reported } = createNewsByHand();
  const waiters = createWaiters(notifier, { safetyPollMs: HOUR });
  let looks = 0;
  const wait = waiters.until(
    "a",
    async () => {
      looks += 1;
      return looks === 2 || undefined;
    },
    { ms: HOUR },
  );
  await Promise.resolve();
  expect(Object.keys(reported)).toEqual(["ended"]);
  tell("ended");
  expect(await wait).toBe(true);
  waiters.close();
});

test("a wait that looks by itself, again and again, listens to its caller's end once", async () => {
  const waiters = createWaiters(createNewsByHand().notifier, { safetyPollMs: 1 });
  const { signal } = new AbortController();
  const listening: number[] = [];
  const look = async () => {
    listening.push(getEventListeners(signal, "abort").length);
    return listening.length === 5 || undefined;
  };
  expect(await waiters.until("a", look, { ms: HOUR, signal })).toBe(true);
  expect(listening).toEqual([0, 0, 0, 0, 0]);
  waiters.close();
});

test("who has just made the operation reads at its end, or soon if nothing is said of it", async () => {
  const { notifier, tell } = createNewsByHand();
  const waiters = createWaiters(notifier, { safetyPollMs: HOUR });
  let looks = 0;
  const look = async () => {
    looks += 1;
    return true;
  };
  const heard = waiters.until("a", look, { ms: HOUR, isNew: true });
  await new Promise(setImmediate);
  expect(looks).toBe(0);
  tell("ended");
  expect(await heard).toBe(true);
  // A message that came before it listened is not missed, and a wait of no time reads as well.
  expect(await waiters.until("a", look, { ms: HOUR, isNew: true })).toBe(true);
  expect(await waiters.until("a", look, { ms: 0, isNew: true })).toBe(true);
  waiters.close();
});
