/**
 * An operation that has run, and whose large result is being fetched when its Editor dies: the request for the next part did not leave,
 * which says nothing of the operation. It is neither unsent nor another Editor's.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isFinal, type OperationRecord } from "../../../src/shared/operation/operation.js";
import type { Client } from "../../harness/system/client.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

const PART = 4 * 1024 * 1024;
const START = '{"Text":"'.length;
const filler = randomBytes(PART).toString("base64");
/** Of two parts and a bit; the end of the first one can be recognised on the wire. */
const TEXT = [filler.slice(0, PART - START - 6_000), "y".repeat(6_000), filler.slice(0, PART)].join("");
const onTheWire = (text: string): string => Buffer.from(text.repeat(3)).toString("base64").repeat(20);

/** Occupies all threads that compress, from `occupy` until `release`: to open a pipe waits for its writer. */
function busyThreads(): { occupy(): void; release(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), "ujb-pipe-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  let opening: Promise<FileHandle>[] = [];
  return {
    occupy() {
      opening = [1, 2, 3, 4].map(() => open(pipe, "r"));
    },
    async release() {
      const writer = openSync(pipe, "w");
      for (const reader of await Promise.all(opening)) await reader.close();
      closeSync(writer);
    },
  };
}

interface Dead extends System {
  first: System["editor"];
  ann: Client;
  operation: OperationRecord;
  addSecond(): Promise<System["editor"]>;
}

/** Calls the tool for this target, and kills the Editor between two parts of its result. */
async function diesBetweenParts(target: "pool" | "editor"): Promise<Dead> {
  const system = await start({ worker: null });
  const { bench, editor } = system;
  await editor.close();
  const big = {
    ...bench.tools[0],
    name: "big",
    run: async ({ args }: { args: { text(name: string): string } }) => {
      bench.begun.push(args.text("Name"));
      return { Text: TEXT };
    },
  } as never;
  const addSecond = () => system.addEditor({ labels: ["android"], tools: [big] });
  const first = await addSecond();
  // The machine is busy, and its lease is not what is tested.
  const { toEditor } = await system.addCabledWorker(first, { lease: { ttlMs: 4_000, renewMs: 100 } });
  await system.present(first);
  const ann = system.client();
  // The next part is asked for once this one is compressed: by then the connection has ended, behind it.
  const threads = busyThreads();
  const dead = toEditor
    .heard(onTheWire("y"))
    .then(threads.occupy)
    .then(() => toEditor.heard("bridge/heartbeat"))
    .then(toEditor.finish);
  const named = target === "pool" ? "pool:android" : first.editorId;
  const { record } = await ann.submit("big", { Name: "a" }, { editor: named });
  await dead;
  await system.away(first);
  await threads.release();
  await first.faults.crash({ keepUnflushed: true });
  return { ...system, first, ann, operation: record, addSecond };
}

test("▲12 an operation that ran does not go back to its pool when its Editor dies between two parts of its result", async () => {
  const { first, ann, operation, addSecond, ...system } = await diesBetweenParts("pool");
  const second = await addSecond();
  await system.addWorker();
  await system.present(second);
  await system.gateway.sweep();
  const swept = await system.record(operation.logId);
  const next = await ann.submit("work", { Name: "next" }, { editor: second.editorId });
  await ann.outcome(next.record.logId);
  expect({ runs: system.executions("a"), isAt: swept.editor }).toEqual({ runs: 1, isAt: first.editorId });
});

test("▲12 an operation that ran is not cancelled as unsent after its Editor died between two parts of its result", async () => {
  const { ann, operation, broker, warnings, executions, record } = await diesBetweenParts("editor");
  // The lane waits for the Editor again; or, on a machine whose cores are all taken, it lost its lease, or the last part was
  // there before the end.
  await eventually(
    async () =>
      warnings.some((line) => line.includes("asking again") || line.includes("lost the Editor's lease")) ||
      isFinal((await record(operation.logId)).state),
    "it has lost the Editor",
  );
  const cancelled = await broker.cancel("ann", operation.logId, ann.caller);
  const { state } = (cancelled as { record: { state: string } }).record;
  expect({ state, runs: executions("a") }).not.toEqual({ state: "cancelled", runs: 1 });
});
