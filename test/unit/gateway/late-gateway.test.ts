/** A gateway that is used before its store is open. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLateGateway, type ServedGateway } from "../../../src/gateway/mcp/pipe/late-gateway.js";

test("a store that cannot be opened fails the verbs, and no verb that nobody waits for ends the process", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  try {
    const { broker } = createLateGateway(Promise.reject<ServedGateway>(new Error("no store")));
    // As a session does when it ends.
    broker.forget("caller");
    await expect(broker.list("local", 1)).rejects.toThrow("no store");
    await nextTurn();
    await nextTurn();
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});
