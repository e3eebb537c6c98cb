import { describe, expect, test } from "vitest";
import { waitTime } from "../../../src/shared/wait-time.js";

describe("how long a request may stay open", () => {
  test("nothing said means the default, null too", () => {
    expect(waitTime(undefined, 1, false)).toEqual({ ms: 1000 });
    expect(waitTime(null, 5, false)).toEqual({ ms: 5000 });
  });

  test("fractions of a second are allowed, and 0 answers at once", () => {
    expect(waitTime(0.25, 1, false)).toEqual({ ms: 250 });
    expect(waitTime(0, 1, false)).toEqual({ ms: 0 });
  });

  test("a silent wait ends after 50 s, before clients give up, and the answer says so", () => {
    expect(waitTime(50, 1, false)).toEqual({ ms: 50_000 });
    expect(waitTime(51, 1, false)).toEqual({
      ms: 50_000,
      note: "The wait was cut from 51 to 50 seconds (60 with a progress token).",
    });
  });

  test("a wait that shows progress ends after 60 s", () => {
    expect(waitTime(60, 1, true)).toEqual({ ms: 60_000 });
    expect(waitTime(Number.POSITIVE_INFINITY, 1, true).ms).toBe(60_000);
    expect(waitTime(3600, 1, true).note).toBe("The wait was cut from 3600 to 60 seconds.");
  });

  test.each(["1", -1, Number.NaN, true, {}, []])("%j is refused, and nothing is executed", (requested) => {
    expect(() => waitTime(requested, 1, false)).toThrow(expect.objectContaining({ code: "INVALID_TIMEOUT" }));
  });
});
