import { expect, test } from "vitest";
import type { HelloResult } from "../../../src/shared/wire/wire.js";
import {
  createOwnedOperations,
  createUnderWay,
  type OwnedOperationsDeps,
} from "../../../src/worker/owner/owned-operations.js";
import { operation } from "../shared/record.js";

const HELLO = { unacknowledged: ["z"] } as unknown as HelloResult;

/** An owner whose store has one operation that was sent and has ended since, and that notes what it is asked. */
function ownerOf(asked: string[]) {
  const sent = operation({ logId: "a", state: "dispatched", sentIn: "session" });
  const underWay = createUnderWay();
  const deps = {
    editorId: sent.editor,
    operations: {
      async openOf() {
        asked.push("open");
        return [sent];
      },
      async find(logId: string) {
        asked.push(`read ${logId}`);
        return { ...sent, state: "completed" };
      },
      argumentsOf: async () => ({}),
    },
    imports: {
      importedIn: () => "",
      async importNow() {
        asked.push("import");
        return HELLO;
      },
    },
    underWay,
    acknowledge: () => undefined,
    acknowledgeNamed: async (operationIds: readonly string[]) => void asked.push(`named ${operationIds}`),
    signal: new AbortController().signal,
  };
  const owned = createOwnedOperations(deps as unknown as OwnedOperationsDeps, {});
  return { owned, underWay };
}

test("a job and a resumption of the same operation are one piece of work", async () => {
  const asked: string[] = [];
  const { owned, underWay } = ownerOf(asked);
  const job = owned.process("a");
  expect(underWay.isOwn("a")).toBe(true);
  expect(await Promise.all([job, owned.process("a"), owned.resume(HELLO)])).toEqual([
    "settled",
    "settled",
    undefined,
  ]);
  expect(asked.filter((what) => what === "read a")).toHaveLength(1);
  await underWay.ended();
  expect(underWay.isOwn("a")).toBe(false);
  await owned.process("a");
  expect(asked.filter((what) => what === "read a")).toHaveLength(2);
});

test("▲13 every part that notices a loss waits for the same import, and what was sent goes on", async () => {
  const asked: string[] = [];
  const { owned } = ownerOf(asked);
  await Promise.all([owned.catchUp(), owned.catchUp()]);
  expect(asked).toEqual(["import", "open", "read a", "named z"]);
  await owned.catchUp();
  expect(asked.filter((what) => what === "import")).toHaveLength(2);
});
