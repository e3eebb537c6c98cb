import { describe, expect, test } from "vitest";
import { EXPIRY_LIMITS, expiryOf } from "../../../../src/shared/operation/expiry.js";
import { executed, HOUR, MINUTE, NOW, operation } from "../record.js";

const ask = (record: Parameters<typeof expiryOf>[0], seen: number, now: number) =>
  expiryOf(record, seen, now, EXPIRY_LIMITS);

describe("▲15 nothing waits for ever", () => {
  test.each(["queued"] as const)(
    "▲15 what is %s expires once its Editor was away for 10 minutes",
    (state) => {
      const record = operation({ state, acceptedAt: NOW });
      expect(ask(record, NOW + MINUTE, NOW + 11 * MINUTE - 1)).toBeUndefined();
      expect(ask(record, NOW + MINUTE, NOW + 11 * MINUTE)).toBe("expired");
    },
  );

  test("▲15 an Editor that was away before gets its 10 minutes from the acceptance on", () => {
    const record = operation({ acceptedAt: NOW });
    expect(ask(record, NOW - HOUR, NOW + 10 * MINUTE - 1)).toBeUndefined();
    expect(ask(record, 0, NOW + 10 * MINUTE)).toBe("expired");
  });

  test("▲15 an Editor that is there but busy has 12 hours to take it", () => {
    const record = operation({ acceptedAt: NOW });
    const seenJustNow = (now: number) => ask(record, now, now);
    expect(seenJustNow(NOW + 12 * HOUR - 1)).toBeUndefined();
    expect(seenJustNow(NOW + 12 * HOUR)).toBe("expired");
  });

  test.each(["dispatched", "running"] as const)(
    "▲15 what is %s never expires; after 24 h its outcome is unknown",
    (state) => {
      const record = operation({ state, acceptedAt: NOW - 20 * HOUR, dispatchedAt: NOW });
      expect(ask(record, 0, NOW + 24 * HOUR - 1)).toBeUndefined();
      expect(ask(record, 0, NOW + 24 * HOUR)).toBe("interrupted");
    },
  );

  test("▲15 W8 after a pause of everything each has one full absence time anew, whatever its limit", () => {
    const paused = NOW + 48 * HOUR;
    const since = (record: ReturnType<typeof operation>, now: number) =>
      expiryOf(record, NOW, now, EXPIRY_LIMITS, paused);
    for (const state of ["queued", "running"] as const) {
      const record = operation({ state, acceptedAt: NOW, dispatchedAt: NOW });
      expect(since(record, paused + 10 * MINUTE - 1)).toBeUndefined();
      expect(since(record, paused + 10 * MINUTE)).toBe(state === "queued" ? "expired" : "interrupted");
    }
  });

  test("▲15 what has ended is left alone", () => {
    expect(ask(executed(), 0, NOW + 1000 * HOUR)).toBeUndefined();
  });
});
