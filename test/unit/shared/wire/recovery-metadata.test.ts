import { expect, test } from "vitest";
import { rebuiltRecord, recoveryMetadataOf } from "../../../../src/shared/operation/recover.js";
import type { ListedOperation } from "../../../../src/shared/wire/wire.js";
import { HTTP, NOW, operation } from "../record.js";

const around = { storeIds: ["ours"], editor: "shop@1", session: "s1", tools: [], now: NOW };

/** What the Editor lists of it: the origin as it was submitted, and what the submit said beside it. */
const listed = (
  record = operation(),
  origin: unknown = recoveryMetadataOf(record, "ours"),
): ListedOperation => ({
  operationId: record.logId,
  state: "running",
  hash: record.hash,
  after: record.after,
  acceptedAt: record.acceptedAt,
  origin,
});

test("▲10 (d) whatever decides on the next identical call comes back from the Editor", () => {
  const lost = operation({
    state: "running",
    after: "op0",
    supersedes: "op0",
    keyed: true,
    pool: "pool:android",
    createdBy: { caller: HTTP.id, requestId: 7 },
  });
  expect(rebuiltRecord(listed(lost), around)).toEqual({
    ...lost,
    // Its place, its count and the incarnation are the store's; what became of it the Editor is asked.
    order: 0,
    entered: 0,
    incarnation: "",
    mutationSeq: 0,
    state: "dispatched",
    dispatchedAt: lost.acceptedAt,
    sentIn: "s1",
    rebuilt: true,
  });
});

test("▲10 (d) what an older broker sent is taken for what may least be run again", () => {
  const origin = { principal: "local", tool: "build-player", fingerprint: "f", storeId: "ours" };
  expect(rebuiltRecord(listed(operation(), origin), around)).toMatchObject({
    effect: "mutating",
    lane: "main",
    keyed: false,
    createdBy: { caller: null, requestId: null },
  });
});

test.each([
  ["made in another broker's store", recoveryMetadataOf(operation(), "theirs")],
  ["made by a plain client of the Editor", { principal: "cursor", tool: "build-player", fingerprint: "f" }],
  ["without an origin", null],
  ["with anything else", ["storeId"]],
])("▲10 (d) an operation %s is not ours to tell", (_whose, origin) => {
  expect(rebuiltRecord(listed(operation(), origin), around)).toBeUndefined();
});

test("▲10 (d) the tool's own traits are taken from the catalogue", () => {
  const tool = {
    name: "build-player",
    description: "",
    inputSchema: { type: "object" as const },
    annotations: {},
    effect: "repeatable" as const,
    lane: "background" as const,
    cancellable: true,
    resumable: false,
  };
  expect(rebuiltRecord(listed(), { ...around, tools: [tool] })).toMatchObject({
    effect: "repeatable",
    lane: "background",
    cancellable: true,
  });
});
