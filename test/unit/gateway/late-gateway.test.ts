/** A gateway that is used before its store is open. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Broker } from "../../../src/gateway/broker.js";
import { createLateGateway, type ServedGateway } from "../../../src/gateway/mcp/pipe/late-gateway.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";

afterEach(expectNoLeak);

function openLate(listWaitMs = 60_000) {
  let open: (served: ServedGateway) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const opening = new Promise<ServedGateway>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  const said: string[] = [];
  const listeners: (() => void)[] = [];
  const served = {
    broker: {
      list: async (principal: string) => [principal],
      results: { info: async (id: string) => id },
      present: () => {
        said.push("came");
        return () => void said.push("left");
      },
      forget: (id: string) => void said.push(`forgot ${id}`),
    },
    toolList: {
      current: async () => [{ name: "a tool of Unity", inputSchema: { type: "object" } }],
      onChange: (listener: () => void) => listeners.push(listener),
    },
  } as unknown as ServedGateway;
  const late = createLateGateway(opening, { listWaitMs });
  return { late, said, open: () => open(served), fail };
}

const client = {} as Parameters<Broker["present"]>[0];

test("its verbs wait for it", async () => {
  const { late, open } = openLate();
  const asked = [
    late.broker.list("ann", 1),
    (late.broker.results as unknown as { info(id: string): unknown }).info("x"),
  ];
  open();
  expect(await Promise.all(asked)).toEqual([["ann"], "x"]);
});

test("what is answered at once is answered at once, and done when it is there", async () => {
  const { late, said, open } = openLate();
  const leave = late.broker.present(client);
  const leaveSooner = late.broker.present(client);
  leaveSooner();
  open();
  await late.broker.list("ann", 1);
  expect(said).toEqual(["came"]);
  leave();
  expect(said).toEqual(["came", "left"]);
});

test("a list that did not wait long enough has the broker's own tools, and its client is told of the others", async () => {
  const { late, open } = openLate(0);
  let changes = 0;
  late.toolList.onChange(() => {
    changes += 1;
  });
  const names = (await late.toolList.current("ann")).map(({ name }) => name);
  expect(names).toContain("list_editors");
  expect(names).not.toContain("a tool of Unity");
  open();
  await late.broker.list("ann", 1);
  expect(changes).toBe(1);
  expect((await late.toolList.current("ann")).map(({ name }) => name)).toEqual(["a tool of Unity"]);
});

test("if it does not come, each verb rejects with the reason, and nothing else does", async () => {
  const { late, fail } = openLate();
  const leave = late.broker.present(client);
  fail(new Error("no Redis"));
  await expect(late.broker.list("ann", 1)).rejects.toThrow("no Redis");
  await expect(late.toolList.current("ann")).rejects.toThrow("no Redis");
  expect(() => leave()).not.toThrow();
});

test("a store that cannot be opened fails the verbs, and no verb that nobody waits for ends the process", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  try {
    const { broker } = createLateGateway(Promise.reject<ServedGateway>(new Error("no store")));
    // As a session does when it ends.
    void broker.noted();
    await expect(broker.list("local", 1)).rejects.toThrow("no store");
    await nextTurn();
    await nextTurn();
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});
