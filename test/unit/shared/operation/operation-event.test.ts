import { expect, test } from "vitest";
import { eventOfChange } from "../../../../src/shared/operation/operation-event.js";
import { operation } from "../record.js";

const queued = operation({ state: "queued" });
const sent = operation({ state: "dispatched" });
const running = operation({ state: "running" });
const asked = { cancel: { requestedAt: 1 } };

test.each([
  ["claimed", queued, sent, "sent"],
  ["taken back", sent, queued, "returned"],
  ["begun", sent, running, "started"],
  ["ended", running, operation({ state: "failed" }), "failed"],
  ["asked to be cancelled", running, { ...running, ...asked }, "cancel_requested"],
  ["cancelled while it waits", queued, { ...operation({ state: "cancelled" }), ...asked }, "cancelled"],
  ["asked once more", { ...running, ...asked }, { ...running, cancel: { requestedAt: 2 } }, undefined],
  ["wanted by another caller", queued, { ...queued, isKnown: true as const }, undefined],
])("%s", (_what, before, after, event) => {
  expect(eventOfChange(before, after)).toBe(event);
});
