import { describe, expect, test } from "vitest";
import { waitTime } from "../../../src/shared/wait-time.js";

describe("how long a request may stay open", () => {
  test("nothing said means the default, null too", () => {
    expect(waitTime(undefined, 1)).toEqual({ ms: 1000 });
    expect(waitTime(null, 5)).toEqual({ ms: 5000 });
  });

  test("fractions of a second are allowed, and 0 answers at once", () => {
    expect(waitTime(0.25, 1)).toEqual({ ms: 250 });
    expect(waitTime(0, 1)).toEqual({ ms: 0 });
  });

  test("a number that is written as text is understood", () => {
    expect(waitTime("3", 1)).toEqual({ ms: 3000 });
  });

  test("a wait ends after 50 s, before clients give up, and the answer says so", () => {
    expect(waitTime(50, 1)).toEqual({ ms: 50_000 });
    expect(waitTime(51, 1)).toEqual({ ms: 50_000, note: "The wait was cut from 51 to 50 seconds." });
    expect(waitTime(Number.POSITIVE_INFINITY, 1).ms).toBe(50_000);
  });

  test.each(["one", "", -1, Number.NaN, true, {}, []])(
    "%j is refused, and nothing is executed",
    (requested) => {
      expect(() => waitTime(requested, 1)).toThrow(expect.objectContaining({ code: "INVALID_TIMEOUT" }));
    },
  );
});
