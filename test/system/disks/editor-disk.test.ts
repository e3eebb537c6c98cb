/** An Editor whose disk is full, seen from the broker: everybody is told why, no outcome is lost, and it goes on by itself. */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import type { JournalFiles } from "../../../src/simulator/ledger/journal.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { saidOf } from "./expected.js";

const { start } = useSystem();

const HOUR = 3_600_000;

/** Nothing can be written there while it is full. */
function fullDisk() {
  let isFull = false;
  const refused = <R>(write: () => R): R => {
    if (isFull) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    return write();
  };
  const files = {
    ...fs,
    writeSync: (...args: Parameters<typeof fs.writeSync>) => refused(() => fs.writeSync(...args)),
    fsyncSync: (descriptor: number) => refused(() => fs.fsyncSync(descriptor)),
  } as unknown as JournalFiles;
  const fill = (full: boolean): void => {
    isFull = full;
  };
  return { files, fill };
}

test("one that cannot take a worker says why, and runs what waits as soon as it can", async () => {
  const disk = fullDisk();
  // A person would have to ask for the next attempt.
  const worker = { link: { backoff: { stepMs: 10, maxMs: 30 }, refusedRetryMs: HOUR } };
  const system = await start({ worker, editor: { ledgerFiles: disk.files, ledgerHealMs: 0 } });
  const { broker, client, editor, away, bench } = system;
  await editor.faults.crash();
  await away(editor);
  disk.fill(true);
  await editor.faults.restart();
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" });
  const [why = ""] = saidOf("ledger: hello", dirname(editor.ledgerFile), ["ENOSPC"]);

  const waiting = await ann.until(record.logId, ({ diagnosis }) => diagnosis?.code === "LEDGER_UNAVAILABLE");
  expect(answerOf(waiting).message).toContain(why);
  const listed = (await broker.editors()).editors[0]?.diagnosis;
  expect(listed).toMatchObject({ code: "LEDGER_UNAVAILABLE", message: expect.stringContaining(why) });

  disk.fill(false);
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(bench.begun).toEqual(["a"]);
  await eventually(async () => !(await broker.editors()).editors[0]?.diagnosis, "nothing is wrong any more");
});

test("an outcome that only the store has stays, although the Editor died before it could write it", async () => {
  const disk = fullDisk();
  const { client, editor, bench, present } = await start({ editor: { ledgerFiles: disk.files } });
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  disk.fill(true);
  bench.finish("a");
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");

  await editor.faults.crash();
  disk.fill(false);
  await editor.faults.restart();
  await present(editor);
  const next = await ann.submit("work", { Name: "b" });
  expect((await ann.outcome(next.record.logId)).record.state).toBe("completed");
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(bench.begun).toEqual(["a", "b"]);
});
