/**
 * An older copy of the store has in the queue what was sent since: as long as its Editor is missed, nobody says of it
 * that it never began (▲13).
 */
import { describe, expect, test } from "vitest";
import { singleRequest } from "../../../src/gateway/exchange.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { EXPIRY_LIMITS } from "../../../src/shared/operation/expiry.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** Whatever waits for an Editor that is not there expires with the next round, and leaves when it is given up. */
const HASTY: SystemOptions = {
  commandTimeoutMs: 500,
  gateway: {
    backMs: 0,
    abandonedMs: 0,
    limits: { absentMs: 0, unsentMs: 3_600_000, sentMs: 3_600_000 },
  },
};

const A_CALL = ["work", { Name: "a" }] as const;

/** `names`: of the work that is queued in the copy, and has run and been acknowledged since. */
async function ranSinceTheCopy(
  system: System,
  names: readonly string[] = ["a"],
  isPlain = false,
): Promise<string[]> {
  const { client, editor, bench, away, redis, executions } = system;
  const ann = client();
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const logIds: string[] = [];
  for (const Name of names) {
    const { record } = await ann.submit("work", { Name });
    await ann.reaches(record.logId, "queued");
    logIds.push(record.logId);
  }
  const copy = await redis.copy();
  bench.finish("block");
  for (const logId of [block.record.logId, ...logIds]) await ann.outcome(logId);
  if (!isPlain) await eventually(() => editor.status().unacknowledged.length === 0, "all is acknowledged");
  expect(names.map(executions)).toEqual(names.map(() => 1));
  await editor.faults.crash();
  await away(editor);
  await redis.restore(copy);
  await whenStoreIsBack(() => system.store.operations.now());
  for (const logId of logIds) expect((await system.record(logId)).state).toBe("queued");
  return logIds;
}

/** It waits for its Editor, and so does a repeated call; both get its outcome, of one execution. */
async function isToldWhenItIsBack(system: System, logId: string): Promise<void> {
  const { client, editor, executions } = system;
  const ann = client();
  expect(await system.record(logId)).toMatchObject({ state: "queued" });
  const again = await ann.submit(...A_CALL, { editor: editor.editorId });
  expect(again).toMatchObject({ relation: "joined", record: { logId } });
  await editor.faults.restart();
  expect((await ann.outcome(logId)).record.state).toBe("completed");
  expect(executions("a")).toBe(1);
}

describe("it ran, an older copy of the store has it in the queue, and its Editor is away", () => {
  test("it does not expire", async () => {
    const system = await start(HASTY);
    const [logId = ""] = await ranSinceTheCopy(system);
    await whenStoreIsBack(system.gateway.sweep);
    await isToldWhenItIsBack(system, logId);
  });

  test("given up by its client, it does not leave the queue", async () => {
    const system = await start({ ...HASTY, gateway: { ...HASTY.gateway, limits: EXPIRY_LIMITS } });
    const [logId = ""] = await ranSinceTheCopy(system);
    const by = { principal: "ann", caller: singleRequest("http") };
    const request = { logId, isOwn: true, isTimeout: true };
    await whenStoreIsBack(() => system.broker.givenUp(by, request));
    expect(await system.record(logId)).toMatchObject({ abandonedAt: expect.any(Number) });
    await whenStoreIsBack(system.gateway.sweep);
    await isToldWhenItIsBack(system, logId);
  });

  test("a cancellation waits for the Editor, and comes too late", async () => {
    const system = await start(HASTY);
    const [logId = ""] = await ranSinceTheCopy(system);
    const view = await whenStoreIsBack(() => system.broker.cancel("ann", logId, singleRequest("http")));
    expect(view).toMatchObject({
      record: { state: "queued", cancel: { requestedAt: expect.any(Number) } },
    });
    // The copy has it connected, a few seconds ago.
    const isSaid = async (): Promise<boolean> => {
      const seen = await system.broker.read("ann", logId);
      if (typeof seen !== "object" || !seen.editorAway) return false;
      expect(seen.editorAway).toMatchObject({ mayHaveBeenSent: true, deadline: undefined });
      expect(answerOf(seen).message).toContain("whether the operation was sent is unknown");
      return true;
    };
    await eventually(isSaid, "its Editor is away");
    await isToldWhenItIsBack(system, logId);
  });

  test("a person forgets the Editor: nobody knows whether it ran, and the call is not run elsewhere", async () => {
    const system = await start(HASTY);
    const { client, editor, addEditor, present, executions } = system;
    const [logId = ""] = await ranSinceTheCopy(system);
    await present(await addEditor());
    // The copy has it connected, a few seconds ago.
    const isAway = async (): Promise<boolean> =>
      (await system.broker.editors()).editors.some(
        (known) => known.profile.editorId === editor.editorId && !known.connected,
      );
    await eventually(isAway, "its Editor is away");
    const { ended } = await forget(system, editor.editorId, true);
    expect(ended).toContainEqual(
      expect.objectContaining({
        logId,
        state: "interrupted",
        error: {
          code: "OUTCOME_UNKNOWN",
          type: "editor_forgotten",
          message: expect.stringContaining("whether it was sent is unknown"),
        },
      }),
    );
    expect(await client().submit(...A_CALL)).toMatchObject({
      relation: "replayed",
      record: { logId, state: "interrupted" },
    });
    expect(executions("a")).toBe(1);
  });

  test("a bridge without a ledger: what is in sent.log is not cancelled as unsent", async () => {
    const system = await start({ ...HASTY, editor: { plain: true } });
    const { client, editor, executions } = system;
    const [logId = ""] = await ranSinceTheCopy(system, ["a"], true);
    await whenStoreIsBack(() => system.broker.cancel("ann", logId, singleRequest("http")));
    await editor.faults.restart();
    const ann = client();
    // The outcome, where this worker still has it.
    expect(["completed", "interrupted"]).toContain((await ann.outcome(logId)).record.state);
    await system.present(editor);
    const again = await ann.submit(...A_CALL);
    expect(again).toMatchObject({ relation: "replayed", record: { logId } });
    expect(executions("a")).toBe(1);
  });

  test("more of them than one caller may have running are all reported", async () => {
    const system = await start({ ...HASTY, maxRunning: 1 });
    const names = ["a", "b", "c"];
    const logIds = await ranSinceTheCopy(system, names);
    const ann = system.client();
    const cancel = (logId: string) => system.broker.cancel("ann", logId, singleRequest("http"));
    await whenStoreIsBack(() => Promise.all(logIds.map(cancel)));
    await system.editor.faults.restart();
    const reported = await Promise.all(logIds.map((logId) => ann.outcome(logId)));
    expect(reported.map(({ record }) => record.state)).toEqual(names.map(() => "completed"));
    expect(names.map(system.executions)).toEqual(names.map(() => 1));
  });
});

describe("it was not sent", () => {
  test("and its Editor is missed: cancelled when the Editor is back and does not know it", async () => {
    const system = await start(HASTY);
    const { client, editor, bench, redis, broker, store, executions } = system;
    const ann = client();
    await ann.submit("work", { Name: "block", Hold: true });
    await bench.begins("block");
    const { record } = await ann.submit(...A_CALL);
    await ann.reaches(record.logId, "queued");
    // It was there when the store was lost: nothing says that it had left before.
    await redis.kill();
    await editor.faults.crash();
    await redis.restart();
    const view = await whenStoreIsBack(() => broker.cancel("ann", record.logId, singleRequest("http")));
    expect(view).toMatchObject({ record: { state: "queued" } });
    await editor.faults.restart();
    expect((await ann.outcome(record.logId)).record.state).toBe("cancelled");
    expect(await store.operations.importedIn(editor.editorId)).toBe(await store.operations.incarnation());
    expect(executions("a")).toBe(0);
  });

  test.each(["expires", "cancelled"])(
    "and was accepted after the loss, for an Editor that is missed: %s",
    async (how) => {
      const system = await start(HASTY);
      const { client, editor, broker, gateway } = system;
      await ranSinceTheCopy(system);
      const { record } = await client().submit("work", { Name: "later" }, { editor: editor.editorId });
      if (how === "expires") await gateway.sweep();
      else await broker.cancel("ann", record.logId, singleRequest("http"));
      expect((await system.record(record.logId)).state).toBe(how === "expires" ? "expired" : "cancelled");
    },
  );

  test.each(["expires", "cancelled"])("and its Editor is away, while nothing was lost: %s", async (how) => {
    const system = await start(HASTY);
    const { client, editor, broker, gateway, away } = system;
    await editor.faults.crash();
    await away(editor);
    const ann = client();
    const { record } = await ann.submit(...A_CALL);
    if (how === "expires") await gateway.sweep();
    else await broker.cancel("ann", record.logId, singleRequest("http"));
    expect((await system.record(record.logId)).state).toBe(how === "expires" ? "expired" : "cancelled");
  });
});
