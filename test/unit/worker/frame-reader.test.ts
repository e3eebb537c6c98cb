import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeFrame } from "../../../src/shared/wire/rpc.js";
import { createFrameReader, createUnaskedTime } from "../../../src/worker/transport/connection.js";
import { SILENT } from "../../harness/silent.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets everything happen that needs no clock. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((next) => setImmediate(next));
};

/** A reader whose peer owes `owed.ms` until it has rested once. */
function start({ isStranger = false, owedMs = 0 } = {}) {
  const socket = new PassThrough();
  const taken: string[] = [];
  const owed = { ms: owedMs };
  const stalled = vi.fn();
  const unasked = {
    spend: vi.fn(),
    owedMs() {
      const { ms } = owed;
      owed.ms = 0;
      return ms;
    },
  };
  const reader = createFrameReader(
    { socket, unasked },
    { maxBytes: 1000, maxValues: 1000, frameTimeoutMs: 3_000, isStranger },
    {
      take: (frame) => void taken.push(frame.kind === "message" ? frame.text : frame.kind),
      answers: () => 0,
      stalled,
    },
  );
  const come = async (...pieces: (string | Buffer)[]): Promise<void> => {
    for (const piece of pieces) {
      socket.write(piece);
      await settle();
    }
  };
  const pass = async (ms: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(ms);
    await settle();
  };
  return { reader, taken, owed, stalled, come, pass };
}

describe("A peer that owes time", () => {
  test.each([
    [4_000, 4_000],
    [25_000, 10_000],
  ])("of %i ms is not read for %i ms", async (owedMs, restMs) => {
    const { reader, taken, owed, come, pass } = start();
    reader.begin();
    owed.ms = owedMs;
    await come(encodeFrame("1"), encodeFrame("2"));
    await pass(restMs - 1);
    expect(taken).toEqual(["1"]);
    await pass(1);
    expect(taken).toEqual(["1", "2"]);
    expect(reader.restedMs()).toBe(restMs);
    reader.close();
  });

  test("from a connection before is not read when it comes anew", async () => {
    const { reader, taken, come, pass } = start({ owedMs: 4_000 });
    reader.begin();
    await come(encodeFrame("1"));
    await pass(3_999);
    expect(taken).toEqual([]);
    await pass(1);
    expect(taken).toEqual(["1"]);
    reader.close();
  });

  test("rests shortly until it has proven who it is: its door would close meanwhile", async () => {
    const { reader, taken, owed, come, pass } = start({ isStranger: true, owedMs: 4_000 });
    reader.begin();
    await come(encodeFrame("1"));
    await pass(500);
    expect(taken).toEqual(["1"]);
    reader.allow(1000);
    owed.ms = 4_000;
    await come(encodeFrame("2"), encodeFrame("3"));
    await pass(3_999);
    expect(taken).toEqual(["1", "2"]);
    reader.close();
  });

  test("is neither silent nor slow with its frame while it rests", async () => {
    const { reader, taken, owed, stalled, come, pass } = start();
    reader.begin();
    const frame = encodeFrame("whole");
    owed.ms = 9_000;
    await come(frame.subarray(0, -1), frame.subarray(-1));
    await pass(8_999);
    expect(reader.silentMs()).toBe(0);
    await pass(1);
    expect([taken, stalled.mock.calls]).toEqual([["whole"], []]);
    reader.close();
  });

  test("has no more time for its frame than its rests took", async () => {
    const { reader, owed, stalled, come, pass } = start();
    reader.begin();
    owed.ms = 9_000;
    await come(encodeFrame("whole").subarray(0, -1));
    await pass(11_999);
    expect(stalled).not.toHaveBeenCalled();
    await pass(1);
    expect(stalled).toHaveBeenCalledOnce();
    reader.close();
  });
});

describe("The account of a peer", () => {
  function open() {
    let now = 0;
    const account = createUnaskedTime(SILENT, () => now);
    return { ...account, later: (ms: number) => (now += ms) };
  }

  test("is not touched by answers that were asked for, as long as they are ordinary", () => {
    const { spend, owedMs } = open();
    for (let at = 0; at < 1000; at += 1) spend(50, 1);
    spend(1_000, 20);
    expect(owedMs()).toBe(0);
  });

  test("pays what an answer takes beyond that, to the last ms", () => {
    const { spend, owedMs, later } = open();
    spend(1_150, 1);
    expect(owedMs()).toBe(10_000);
    later(9_000);
    expect(owedMs()).toBe(1_000);
    spend(50, 0);
    expect(owedMs()).toBe(1_500);
    later(1_500);
    expect(owedMs()).toBe(0);
  });

  test("pays no hour in which the process was stopped", () => {
    const { spend, owedMs } = open();
    spend(3_600_000, 0);
    expect(owedMs()).toBe(49_000);
  });
});
