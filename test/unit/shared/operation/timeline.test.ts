import { describe, expect, test } from "vitest";
import {
  type Duplicate,
  MOST_DUPLICATES,
  relationOf,
  timelineOf,
  whyOnce,
} from "../../../../src/shared/operation/timeline.js";
import { executed, HTTP, NOW, operation, reported, SINGLE } from "../record.js";

const joined: Duplicate = { at: NOW - 45_000, relation: "joined", caller: "mcp:12345678-aaaa", requestId: 7 };
const replayed: Duplicate = { at: NOW - 5_000, relation: "replayed", caller: null, requestId: null };

describe("the story of an operation", () => {
  test("is told in the order of time, with the calls that found it and who was told", () => {
    const record = executed({
      createdBy: { caller: "stdio:abcdefgh-bbbb", requestId: 3 },
      ...reported(HTTP),
    });
    const story = timelineOf(record, [joined, replayed]);
    expect(story.map(({ event, detail }) => [event, detail])).toEqual([
      ["accepted", "from stdio process abcdefgh (request 3)"],
      ["sent", "to shop@1"],
      ["joined", "by HTTP session 12345678 (request 7)"],
      ["started", undefined],
      ["completed", "after 20 s"],
      ["delivered", expect.stringContaining("to session")],
      ["replayed", "by a request without a session"],
    ]);
    expect(story[0]?.at).toBe(new Date(NOW - 60_000).toISOString());
  });

  test("says for which pool it was, and which Editor took it from there", () => {
    const pool = "pool:android";
    const taken = timelineOf(executed({ pool }), []);
    expect(taken.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/, for pool:android$/),
        "to shop@1, which took it from pool:android",
      ]),
    );
    expect(timelineOf(operation({ pool, editor: pool }), [])).toMatchObject([
      { event: "accepted", detail: expect.stringMatching(/, for pool:android$/) },
    ]);
  });

  test("names the clients that repeated the call, in quotes that a name cannot end", () => {
    const story = timelineOf(operation(), [
      { ...joined, client: "cursor 2" },
      { ...replayed, client: '" and more' },
    ]);
    expect(story.map(({ detail }) => detail).slice(1)).toEqual([
      'by HTTP session 12345678 (request 7), named "cursor 2"',
      `by a request without a session, named "' and more"`,
    ]);
  });

  test("says that what was delivered to a single request was one without a session", () => {
    const story = timelineOf(executed(reported(SINGLE)), []);
    expect(story.find(({ event }) => event === "delivered")).toMatchObject({
      event: "delivered",
      detail: "to a request without a session",
    });
  });

  test("does not tell a session's whole id, which would let others speak for it", () => {
    expect(JSON.stringify(timelineOf(executed(), [joined]))).not.toContain("aaaa");
  });

  test("says who has read it, what was cancelled, and superseded", () => {
    const story = timelineOf(
      executed({
        ...reported(HTTP, { hasRead: true }),
        supersedes: "op0",
        cancel: { requestedAt: NOW - 30_000, answer: "not_cancellable" },
      }),
      [],
    );
    expect(story.map(({ detail }) => detail).join("\n")).toMatch(
      /run op0 again[\s\S]*not_cancellable[\s\S]*has read/,
    );
  });

  test.each([
    ["alone", executed(), [], /^One call asked.*executed it once/],
    [
      "found by others",
      executed(),
      [joined, replayed, replayed],
      /^4 calls.*1 joined.*2 received.*executed it once/,
    ],
    ["waiting", operation(), [], /has not begun it yet/],
    ["running", operation({ state: "running", startedAt: NOW }), [], /began it once and has not reported/],
    ["expired", operation({ state: "expired" }), [], /never began/],
    ["interrupted", operation({ state: "interrupted", startedAt: NOW }), [], /unknown; it is not run again/],
    [
      "found in the Editor",
      operation({ state: "completed", executedAs: "opX" }),
      [],
      /before, as opX; it was not run again/,
    ],
  ] as const)("why it ran once: %s", (_name, record, duplicates, says) => {
    expect(whyOnce(record, duplicates)).toMatch(says);
  });
});

describe("how a caller's newest call found the operation", () => {
  const full = (oldest: Duplicate): Duplicate[] => [oldest, ...Array(MOST_DUPLICATES - 1).fill(replayed)];

  test("is what is noted last of it, and nothing of a caller that is not noted", () => {
    const later: Duplicate = { ...joined, relation: "replayed" };
    expect(relationOf("mcp:12345678-aaaa", [joined, later, { ...joined, caller: "mcp:other" }])).toBe(
      "replayed",
    );
    expect(relationOf("mcp:creator", [joined, replayed])).toBeUndefined();
  });

  test("is in doubt what the oldest one did, once older ones are no longer kept", () => {
    expect(relationOf("mcp:forgotten", full(joined))).toBe("joined");
    expect(relationOf("mcp:forgotten", full(replayed))).toBe("replayed");
    expect(relationOf("mcp:12345678-aaaa", full(joined))).toBe("joined");
  });
});
