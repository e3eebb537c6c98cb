/** What headers of a request ask for, and which answers a client has already. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isNamed, revalidated } from "../../../../src/gateway/rest/rest-answer.js";
import { idempotencyKeyIn, preferenceIn } from "../../../../src/gateway/rest/routes/submit.js";

describe("Prefer", () => {
  test.each([
    [undefined, undefined, undefined],
    ["respond-async", 0, "respond-async"],
    ["wait=10", 10, "wait=10"],
    ["Respond-Async, WAIT=10", 10, "wait=10"],
    ["return=minimal; x, wait = 5", 5, "wait=5"],
    ['wait="7"', 7, "wait=7"],
    ["wait=soon", undefined, undefined],
    ["wait=soon, respond-async", 0, "respond-async"],
    ["wait=-1", undefined, undefined],
  ])("%s", (header, waitSeconds, applied) => {
    expect(preferenceIn(header)).toEqual({ waitSeconds, applied });
  });
});

describe("Idempotency-Key", () => {
  test.each([
    ['"a b"', "a b"],
    ["a-b", "a-b"],
    ['"a\\"b\\\\"', 'a"b\\'],
    [' "padded" ', "padded"],
  ])("%s", (header, key) => expect(idempotencyKeyIn(header)).toBe(key));

  test.each(['"open', 'in"side', "a b", '"\\a"', "", "é"])("%s is none", (header) => {
    expect(() => idempotencyKeyIn(header)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENTS" }));
  });

  test("two keys are one only if they say the same", () => {
    const text = fc.stringMatching(/^[\x20-\x7e]{1,20}$/);
    const quoted = (key: string): string => `"${key.replace(/["\\]/g, "\\$&")}"`;
    fc.assert(fc.property(text, (key) => idempotencyKeyIn(quoted(key)) === key));
  });
});

describe("If-None-Match", () => {
  const etag = '"abc"';
  test.each([
    [etag, true],
    [`W/${etag}`, true],
    [`"x", ${etag}`, true],
    ["*", true],
    ['"abcd"', false],
    ["abc", false],
    [undefined, false],
  ])("%s", (header, isThere) => expect(isNamed(etag, header)).toBe(isThere));

  const ended = { status: 200, body: { state: "completed", log_id: "1", age_seconds: 4, message: "m" } };

  test("an ended operation's tag stays as time passes, and changes with the outcome", () => {
    const tagOf = (body: object) => revalidated({ ...ended, body }, undefined).headers?.etag;
    expect(tagOf(ended.body)).toBe(tagOf({ ...ended.body, age_seconds: 99, editor_changed_since: true }));
    expect(tagOf(ended.body)).not.toBe(tagOf({ ...ended.body, result: 1 }));
  });

  test("one that goes on, and a refusal, have none", () => {
    for (const answer of [
      { ...ended, body: { ...ended.body, state: "running" } },
      { ...ended, status: 404 },
      { ...ended, body: undefined },
    ])
      expect(revalidated(answer, "*")).toBe(answer);
  });
});
