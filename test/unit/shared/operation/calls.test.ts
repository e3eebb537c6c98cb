import { expect, test } from "vitest";
import { callsOf } from "../../../../src/shared/operation/calls.js";
import { executed, HTTP, NOW } from "../record.js";

const delivery = { at: NOW, tookMs: 1, confirmed: false };
const joined = (requestId: number, at: number, caller: string | null = HTTP.id) =>
  ({ relation: "joined", at, caller, requestId, client: "cursor" }) as const;

test("each call is shown with the delivery that answered it", () => {
  const record = executed({ deliveries: { [HTTP.id]: { ...delivery, requestId: 3, earlier: [1] } } });
  const calls = callsOf(record, [joined(3, NOW - 30_000), joined(2, NOW - 45_000)]);
  expect(calls.map(({ relation, delivered_at }) => [relation, delivered_at !== undefined])).toEqual([
    ["created", true],
    ["joined", false],
    ["joined", true],
  ]);
  expect(calls[1]?.client).toBe("cursor");
});

test("an outcome that was read later is its caller's last call's; one of nobody that called is a line of its own", () => {
  const deliveries = {
    [HTTP.id]: { ...delivery, requestId: 9, confirmed: true },
    "": { ...delivery, requestId: 1 },
  };
  const calls = callsOf(executed({ deliveries }), [joined(2, NOW - 30_000), joined(5, NOW + 1)]);
  expect(
    calls.map(({ relation, delivered_at, confirmed }) => [relation, delivered_at !== undefined, confirmed]),
  ).toEqual([
    ["created", false, undefined],
    ["joined", true, true],
    ["joined", false, undefined],
    ["read", true, undefined],
  ]);
  expect(calls[3]?.caller).toBe("a stateless request");
});

test("requests without a caller are told apart by their ids", () => {
  const record = executed({ deliveries: { "": { ...delivery, requestId: 2 } } });
  const calls = callsOf(record, [joined(2, NOW - 30_000, null), joined(3, NOW - 20_000, null)]);
  expect(calls.map(({ delivered_at }) => delivered_at !== undefined)).toEqual([false, true, false]);
});
