import { expect, test } from "vitest";
import { callsOf } from "../../../../src/shared/operation/timeline.js";
import { executed, HTTP, NOW, SINGLE } from "../record.js";

const joined = (requestId: number, at: number, caller = HTTP.id) =>
  ({ relation: "joined", at, caller, requestId, client: "cursor" }) as const;

test("what a caller received is shown with its last call before that", () => {
  const record = executed({ askers: { [HTTP.id]: { deliveredAt: NOW, hasRead: true } } });
  const calls = callsOf(record, [joined(3, NOW - 30_000), joined(5, NOW + 1), joined(2, NOW - 45_000)]);
  expect(
    calls.map(({ relation, delivered_at, has_read }) => [relation, delivered_at !== undefined, has_read]),
  ).toEqual([
    ["created", false, undefined],
    ["joined", false, undefined],
    ["joined", true, true],
    ["joined", false, undefined],
  ]);
  expect(calls[1]?.client).toBe("cursor");
});

test("one that received it without a call is a line of its own; one that only asked has received nothing", () => {
  const askers = { [SINGLE.id]: { deliveredAt: NOW }, "mcp:waits": {} };
  const calls = callsOf(executed({ askers }), [joined(2, NOW - 30_000)]);
  expect(calls.map(({ relation, delivered_at }) => [relation, delivered_at !== undefined])).toEqual([
    ["created", false],
    ["joined", false],
    ["read", true],
  ]);
  expect(calls[2]?.caller).toBe("a request without a session");
});
