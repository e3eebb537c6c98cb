/** Invariant 2's exception: a call that its client cancelled while it waited, and that nobody else knows of. */

import { afterEach, describe, expect, test } from "vitest";
import { type StdioService, serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { abandoned, cancelIfAbandoned, markKnown } from "../../../src/shared/operation/operation.js";
import {
  cancelOf,
  createHeardLog,
  createLinePeer,
  createPipes,
  INITIALIZE,
  reported,
  toolCall,
} from "../../harness/mcp/mcp.js";
import { hasJob } from "../../harness/system/job-state.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";
import { NOW, operation } from "../../unit/shared/record.js";

const { start } = useSystem();
const services: StdioService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

/** A stdio client of ann's whose call "a" waits behind her "block". */
async function waiting(timeout = 30) {
  const system = await start({ gateway: { abandonedMs: 1 } });
  const { client, bench, broker, store } = system;
  const ann = client("local");
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const pipes = createPipes();
  const log = createHeardLog();
  const service = serveStdio({ gateway: system.gateway, log, version: "0.0.0" }, pipes);
  services.push(service);
  const peer = createLinePeer(pipes);
  peer.send(INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" });
  await peer.answer(0);
  peer.send(toolCall(7, "work", { Name: "a", timeout }));
  let logId = "";
  await eventually(async () => {
    const open = await store.operations.openOf(system.editor.editorId);
    const found = open.find((record) => record.logId !== block.record.logId);
    logId = found?.logId ?? "";
    return found?.state === "queued";
  }, "it is queued");
  const giveUp = async (): Promise<void> => {
    peer.send(cancelOf(7));
    await log.said("the client cancelled a request");
  };
  const isAbandoned = () =>
    eventually(async () => (await system.record(logId)).abandonedAt !== undefined, "that is noted");
  const finish = async (): Promise<string> => {
    bench.finish("block");
    await ann.outcome(block.record.logId);
    return (await ann.outcome(logId)).record.state;
  };
  return { ...system, system, ann, peer, log, logId, giveUp, isAbandoned, finish, broker };
}

/** Time passes, and the janitor comes. */
async function sweepLater({ store, gateway }: Pick<System, "store" | "gateway">): Promise<void> {
  const since = await store.operations.now();
  await eventually(async () => (await store.operations.now()) > since + 5, "time passes");
  await gateway.sweep();
}

describe("a call that its client cancelled while it waited in the queue", () => {
  test("leaves the queue, never begun, and says why", async () => {
    const { system, broker, store, bench, giveUp, isAbandoned, logId, finish } = await waiting();
    await giveUp();
    await isAbandoned();
    await sweepLater(system);
    const record = await system.record(logId);
    expect(record.state).toBe("cancelled");
    expect(await hasJob(store, record)).toBe(false);
    const view = await broker.read("local", logId);
    if (typeof view !== "object") throw new Error("no view");
    expect(answerOf(view)).toMatchObject({ status: "cancelled" });
    expect(answerOf(view).message).toMatch(
      /its client cancelled the call.*nobody received its log_id.*Nothing was executed/,
    );
    expect(await finish()).toBe("cancelled");
    expect(bench.begun).toEqual(["block"]);
  });

  test("leaves it also where the gateway was replaced meanwhile", async () => {
    const { gateway, addGateway, giveUp, isAbandoned, logId, record, bench, hand } = await waiting();
    await giveUp();
    await isAbandoned();
    for (const service of services.splice(0)) await service.close();
    await gateway.close();
    const next = await addGateway();
    await eventually(async () => {
      await next.sweep();
      return (await record(logId)).state === "cancelled";
    }, "it left");
    bench.finish("block");
    await eventually(async () => (await hand.keys("{ujb}:open:*")).length === 0, "nothing is open");
    expect(bench.begun).toEqual(["block"]);
  });

  test("stays where it had been answered: the client knows the log_id", async () => {
    const { system, peer, giveUp, finish, bench, log } = await waiting(0);
    const { log_id } = reported(await peer.answer(7));
    expect(log_id).toBeDefined();
    await giveUp();
    peer.send(toolCall(8, "list_editors"));
    await peer.answer(8);
    await sweepLater(system);
    expect(log.lines.map(({ message }) => message)).not.toContain(
      "could not record that the operation was given up",
    );
    expect(await finish()).toBe("completed");
    expect(bench.begun).toEqual(["block", "a"]);
  });

  test.each(["before", "after"])("stays where somebody joins it %s that", async (when) => {
    const { system, ann, giveUp, isAbandoned, finish, logId, bench } = await waiting();
    const join = async (): Promise<void> => {
      const found = await ann.submit("work", { Name: "a" });
      expect(found).toMatchObject({ relation: "joined", record: { logId } });
    };
    if (when === "before") await join();
    await giveUp();
    if (when === "after") {
      await isAbandoned();
      await join();
    }
    await sweepLater(system);
    expect(await finish()).toBe("completed");
    expect(bench.begun).toEqual(["block", "a"]);
  });

  test("leaves it also where a person looks at it", async () => {
    const { system, broker, giveUp, isAbandoned, logId, finish } = await waiting();
    const look = async (): Promise<void> => {
      const { operations } = await broker.operate.list("local", { isWanted: () => true, limit: 10 });
      expect(operations.map(({ view }) => view.record.logId)).toContain(logId);
      expect(await broker.look("local", logId)).toMatchObject({ record: { logId } });
      expect(await broker.explain("local", logId)).toMatchObject({ record: { logId } });
    };
    await look();
    await giveUp();
    await isAbandoned();
    await look();
    await sweepLater(system);
    expect((await system.record(logId)).state).toBe("cancelled");
    expect(await finish()).toBe("cancelled");
  });

  test("stays where its log_id is listed to a client", async () => {
    const { system, broker, giveUp, isAbandoned, finish, logId } = await waiting();
    await giveUp();
    await isAbandoned();
    expect((await broker.list("bob", 10)).length).toBe(0);
    expect((await system.record(logId)).abandonedAt).toBeDefined();
    expect((await broker.list("local", 10)).map(({ record }) => record.logId)).toContain(logId);
    await sweepLater(system);
    expect(await finish()).toBe("completed");
  });

  test("goes on where it was sent before it left", async () => {
    const { system, giveUp, isAbandoned, bench, ann, logId, finish } = await waiting();
    await giveUp();
    await isAbandoned();
    expect(await finish()).toBe("completed");
    await sweepLater(system);
    expect(await ann.until(logId, () => true)).toMatchObject({ record: { state: "completed" } });
    expect(bench.begun).toEqual(["block", "a"]);
  });
});

describe("the record of such a call", () => {
  const waits = operation({ state: "queued" });
  const alone = abandoned(waits, NOW);

  test("leaves after the time, not before, and only while it waits", () => {
    if (!alone) throw new Error("not abandoned");
    expect(cancelIfAbandoned(alone, NOW + 59_999, 60_000)).toBeUndefined();
    expect(cancelIfAbandoned(alone, NOW + 60_000, 60_000)).toMatchObject({
      state: "cancelled",
      endedAt: NOW + 60_000,
    });
    for (const state of ["dispatched", "running", "completed"] as const) {
      expect(cancelIfAbandoned({ ...alone, state }, NOW + 60_000, 60_000)).toBeUndefined();
      expect(abandoned({ ...waits, state }, NOW)).toBeUndefined();
    }
    expect(cancelIfAbandoned(waits, NOW + 60_000, 60_000)).toBeUndefined();
  });

  test("once known it is not abandoned any more, and never again", () => {
    if (!alone) throw new Error("not abandoned");
    const wanted = markKnown(alone);
    expect(wanted).toMatchObject({ isKnown: true });
    expect(wanted).not.toHaveProperty("abandonedAt");
    expect(wanted && abandoned(wanted, NOW)).toBeUndefined();
    expect(wanted && markKnown(wanted)).toBeUndefined();
  });
});
