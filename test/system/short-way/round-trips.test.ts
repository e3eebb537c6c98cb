/** What a call costs in scripts: counted, because a time says nothing beside other tests. */
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { commandsDuring } from "../../harness/redis/watched-commands.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

interface Commands {
  /** Scripts that create or end an operation. */
  writes: string[][];
  /** Scripts that only claim one. */
  claims: string[][];
  /** Jobs that BullMQ's worker ends. */
  bullmq: string[][];
}

async function commandsOf(hand: Redis, act: () => Promise<unknown>): Promise<Commands> {
  const seen = await commandsDuring(hand, act);
  const scripts = seen.filter(([name = ""]) => /^eval(sha)?$/i.test(name));
  return {
    writes: scripts.filter((command) => command.some((part) => part.startsWith(keys.tombstone("")))),
    claims: scripts.filter((command) => command.at(-1)?.startsWith('{"state":"dispatched"')),
    bullmq: scripts.filter((command) => command.some((part) => part.endsWith(":completed"))),
  };
}

async function begun(): Promise<System> {
  const system = await start({ worker: null });
  await system.addWorkerHere();
  await system.present(system.editor);
  await call(system, "first");
  return system;
}

async function call(system: System, name: string): Promise<void> {
  const { record } = await system.client().submit("work", { Name: name });
  const seen = await system.broker.wait("ann", record.logId, { ms: 30_000 });
  expect(seen).toMatchObject({ record: { state: "completed" } });
}

test("a call to an idle lane is two scripts: one creates and claims, one ends it with its job", async () => {
  const system = await begun();
  const { writes, claims, bullmq } = await commandsOf(system.hand, async () => {
    for (let at = 0; at < 5; at += 1) await call(system, `alone ${at}`);
  });
  expect(writes).toHaveLength(2 * 5);
  expect(claims).toEqual([]);
  expect(bullmq).toEqual([]);
});

test("calls that wait for each other are two scripts each as well: the end of one claims the next", async () => {
  const system = await begun();
  const { writes, claims, bullmq } = await commandsOf(system.hand, () =>
    Promise.all(Array.from({ length: 20 }, (_, at) => call(system, `together ${at}`))),
  );
  expect(writes).toHaveLength(2 * 20);
  expect(bullmq).toEqual([]);
  // Those after the first may be taken by BullMQ's worker, which is woken by them, and are then claimed by the owner.
  expect(claims.length).toBeLessThanOrEqual(3);
});
