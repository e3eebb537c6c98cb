import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { createWaiters } from "../../../src/gateway/waiters.js";
import type { Notifier } from "../../../src/shared/store/notifier.js";
import { createEndedHere } from "../../../src/shared/store/same-process/ended-here.js";
import { operation } from "../shared/record.js";

/** The safety net hangs an hour below: what looks again was woken. */
const HOUR = 3_600_000;

function createNewsByHand() {
  const reported: Record<string, (subject: string) => void> = {};
  let heard: (() => void) | undefined;
  let missed: (() => void) | undefined;
  const notifier: Notifier = {
    on(channel, listener, onHeard) {
      reported[channel] = listener;
      if (channel === "changed") heard = onHeard;
      if (channel === "ended") missed = onHeard;
      return () => delete reported[channel];
    },
    close: () => undefined,
  };
  return {
    notifier,
    tell: (channel: string) => reported[channel]?.("a"),
    subscribed: () => heard?.(),
    missed: () => missed?.(),
    reported,
  };
}

test("who follows looks again once the subscription stands: what changed before was not reported", async () => {
  const { notifier, subscribed, reported } = createNewsByHand();
  const waiters = createWaiters(notifier, createEndedHere(), { safetyPollMs: HOUR });
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
  const waiters = createWaiters(notifier, createEndedHere(), { safetyPollMs: HOUR });
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
  const waiters = createWaiters(createNewsByHand().notifier, createEndedHere(), { safetyPollMs: 1 });
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

describe("an operation that this process is about to create", () => {
  const waitersOf = () => {
    const news = createNewsByHand();
    const endedHere = createEndedHere();
    const waiters = createWaiters(news.notifier, endedHere, { safetyPollMs: HOUR });
    let looks = 0;
    const look = async () => {
      looks += 1;
      return true;
    };
    waiters.expect("a");
    return {
      ...news,
      endedHere,
      waiters,
      wait: () => waiters.until("a", look, { ms: HOUR }),
      looks: () => looks,
    };
  };

  test("is not read before something is heard of it", async () => {
    const { wait, tell, looks, waiters } = waitersOf();
    const waiting = wait();
    await Promise.resolve();
    expect(looks()).toBe(0);
    tell("ended");
    expect(await waiting).toBe(true);
    // Only the first wait may rely on that.
    expect(await waiters.until("a", async () => "read", { ms: HOUR })).toBe("read");
    waiters.close();
  });

  test.each(["an end that was heard", "a gap between messages", "an end that this process wrote"])(
    "%s before the wait: it is read at once",
    async (what) => {
      const { wait, tell, missed, endedHere, waiters } = waitersOf();
      if (what === "an end that was heard") tell("ended");
      else if (what === "a gap between messages") missed();
      else endedHere.note({ record: operation({ logId: "a", state: "completed" }), result: undefined });
      expect(await wait()).toBe(true);
      waiters.close();
    },
  );
});

test("an end that this process wrote wakes who waits, without a message", async () => {
  const endedHere = createEndedHere();
  const waiters = createWaiters(createNewsByHand().notifier, endedHere, { safetyPollMs: HOUR });
  const wait = waiters.until("a", async () => endedHere.find("a")?.record.state, { ms: HOUR });
  await Promise.resolve();
  endedHere.note({ record: operation({ logId: "a", state: "completed" }), result: undefined });
  expect(await wait).toBe("completed");
  waiters.close();
});
