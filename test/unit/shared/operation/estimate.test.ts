import { describe, expect, test } from "vitest";
import { usualTime } from "../../../../src/gateway/submit.js";
import { estimateOf } from "../../../../src/shared/operation/estimate.js";

const took = (editor: string, ...times: number[]) => times.map((ms) => ({ ms, editor }));

describe("the usual time", () => {
  test("is the median of what it took in that Editor, whatever others needed", () => {
    const recorded = [...took("mac", 900, 1_000, 5_000), ...took("linux", 10, 20)];
    expect(usualTime(recorded, "mac")).toBe(1_000);
    expect(usualTime(recorded, "linux")).toBe(10);
  });

  test("of an Editor that has not run it is that of all", () => {
    expect(usualTime([...took("mac", 300), ...took("windows", 100, 200)], "linux")).toBe(200);
  });

  test("is not known of what nobody has run", () => {
    expect(usualTime([], "mac")).toBeUndefined();
  });
});

describe("an estimate", () => {
  const own = { usualMs: 10 };

  test("adds up what is left of those ahead, each in the place that is free first", () => {
    const ahead = [{ usualMs: 100, ranMs: 40 }, { usualMs: 40 }];
    expect(estimateOf(own, ahead, 1)).toEqual({ startMs: 100, endMs: 110 });
    expect(estimateOf(own, ahead, 2)).toEqual({ startMs: 40, endMs: 50 });
    expect(estimateOf(own, ahead, 3)).toEqual({ startMs: 0, endMs: 10 });
  });

  test("says nothing while one ahead runs for longer than before", () => {
    expect(estimateOf(own, [{ usualMs: 100, ranMs: 99 }], 1)).toEqual({ startMs: 1, endMs: 11 });
    expect(estimateOf(own, [{ usualMs: 100, ranMs: 100 }], 1)).toEqual({});
  });

  test("says nothing where one ahead is unknown, and no end where its own time is", () => {
    expect(estimateOf(own, [{ usualMs: 100 }, { usualMs: undefined }], 1)).toEqual({});
    expect(estimateOf({ usualMs: undefined }, [{ usualMs: 100 }], 1)).toEqual({ startMs: 100 });
  });

  test("of one that runs is its end, unless it is late", () => {
    expect(estimateOf({ usualMs: 100, ranMs: 30 }, undefined, 1)).toEqual({ endMs: 70 });
    expect(estimateOf({ usualMs: 100, ranMs: 300 }, undefined, 1)).toEqual({});
  });
});
