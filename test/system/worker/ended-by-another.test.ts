/**
 * An operation that its lane follows is ended by another part of the process, as the janitor ends one whose Editor hangs: the lane is
 * not done with it, so nothing is sent in its place.
 */

import { expect, test } from "vitest";
import { singleRequest } from "../../../src/gateway/exchange.js";
import { eventually } from "../../harness/eventually.js";
import { clientOf } from "../../harness/system/client.js";
import { HOUR, UNDISTURBED } from "../../harness/system/idle-lane.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("the next one waits, and its cancellation holds", async () => {
  const limits = { absentMs: 100, unsentMs: HOUR, sentMs: 100 };
  const system = await start({ worker: null, gateway: { limits } });
  await system.addWorkerHere(UNDISTURBED);
  await system.present(system.editor);
  // Created by another process: BullMQ's worker takes the job.
  const { broker } = await system.addGateway({ limits: { absentMs: HOUR, unsentMs: HOUR, sentMs: HOUR } });
  const ann = clientOf(broker, "ann", { id: "s", transport: "http" });
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await system.bench.begins("block");
  const next = await ann.submit("work", { Name: "next" });
  await eventually(async () => {
    await system.gateway.sweep();
    return (await system.record(block.record.logId)).state === "interrupted";
  }, "the janitor ends it");
  expect((await system.record(next.record.logId)).state).toBe("queued");
  await broker.cancel("ann", next.record.logId, singleRequest("http"));
  expect((await system.record(next.record.logId)).state).toBe("cancelled");
  system.bench.finish("block");
  const last = await ann.submit("work", { Name: "last" });
  expect((await ann.outcome(last.record.logId)).record.state).toBe("completed");
  expect(system.bench.begun).toEqual(["block", "last"]);
});
