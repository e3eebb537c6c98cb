/**
 * The n-th write, flush, opening or renaming of the Editor's journal fails, for each n of a short life: once, for good, or
 * again while it heals. Nothing runs without a durable beginning, nothing that was called durable is lost, and it heals
 * without a restart.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { memoryOf, stillHolds } from "../../../src/shared/wire/ledger-checkpoint.js";
import type { HelloResult } from "../../../src/shared/wire/wire.js";
import type { JournalFiles } from "../../../src/simulator/ledger/journal.js";
import { isLongForm } from "../../harness/long-form.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import {
  createStage,
  executions,
  helloRefusal,
  type Owner,
  type Params,
} from "../simulator/simulator-client.js";
import { type DiskError, EXPECTED, saidOf } from "./expected.js";

const stage = createStage();
afterEach(() => stage.clear());
afterAll(() => expectNoLeak());

type Call = "openSync" | "writeSync" | "fsyncSync" | "renameSync";

interface Fault {
  call: Call;
  /** Which of these calls, from 1. */
  n: number;
  error: DiskError;
  /** Half of the bytes are written: of a disk that then takes the rest, or refuses it. */
  short?: "takes the rest" | "refuses the rest";
  /** Which later calls fail too: all, or the one that comes so many calls behind it. */
  also?: "all" | number;
}

/** The files of a disk with this fault, until it is healed. */
function badDisk(fault?: Fault) {
  const counts: Record<Call, number> = { openSync: 0, writeSync: 0, fsyncSync: 0, renameSync: 0 };
  const made: Call[] = [];
  let since: number | undefined;
  let isHealed = false;

  const fails = (call: Call): boolean => {
    counts[call] += 1;
    made.push(call);
    if (since !== undefined) since += 1;
    else if (fault?.call === call && counts[call] === fault.n) since = 0;
    if (since === undefined || isHealed || !fault) return false;
    return (
      since === 0 ||
      fault.also === "all" ||
      since === fault.also ||
      (since === 1 && fault.short === "refuses the rest")
    );
  };
  const failing =
    <A extends unknown[], R>(call: Call, really: (...args: A) => R) =>
    (...args: A): R => {
      if (!fails(call)) return really(...args);
      const isShort = fault?.short && since === 0;
      const [descriptor, bytes, at, length] = args as unknown as [number, Buffer, number, number];
      if (isShort) return fs.writeSync(descriptor, bytes, at, Math.ceil(length / 2)) as R;
      throw Object.assign(new Error(`${fault?.error}: injected, ${call}`), { code: fault?.error });
    };
  const files = {
    ...fs,
    openSync: failing("openSync", fs.openSync),
    writeSync: failing("writeSync", fs.writeSync as (...args: unknown[]) => number),
    fsyncSync: failing("fsyncSync", fs.fsyncSync),
    renameSync: failing("renameSync", fs.renameSync),
  } as JournalFiles;
  const heal = (): void => {
    isHealed = true;
  };
  return { files, counts, made, hasFailed: () => since !== undefined, heal };
}

/** One life of an Editor on such a disk: what was said, and whether it held. */
async function live(fault?: Fault) {
  const disk = badDisk(fault);
  const options = { ledgerFiles: disk.files, ledgerHealMs: 0, heartbeatMs: 3_600_000 };
  const editor = await stage.editor(options);
  const folder = dirname(editor.ledgerFile);
  const errors = fault ? [fault.error] : [];
  let refusals = 0;
  let durable: Parameters<typeof memoryOf>[0] | undefined;

  const expectRefusal = (
    place: "ledger: hello" | "ledger: submit" | "ledger: revoke",
    error: unknown,
  ): void => {
    refusals += 1;
    expect(error).toMatchObject({ code: EXPECTED[place].end });
    expect(saidOf(place, folder, errors)).toContain((error as Error).message);
  };
  /** A durable entry that a worker was told of. */
  const heard = ({ ledgerSeq }: Params): void => {
    if (durable && typeof ledgerSeq === "number") durable = { ...durable, ledgerSeq };
  };
  const hello = async (epoch: number): Promise<Owner> => {
    const fields = { epoch, ownerNonce: `owner ${epoch}` };
    const owner = await stage.owner(editor, fields).catch(async (error) => {
      expectRefusal("ledger: hello", error);
      disk.heal();
      return stage.owner(editor, fields);
    });
    const said = owner.hello as unknown as HelloResult;
    if (durable) expect(stillHolds(durable, said)).toBe(true);
    durable = memoryOf(said);
    return owner;
  };
  /** Undefined: it was refused. */
  const run = async (owner: Owner, operationId: string, fields: Params = {}) => {
    const accepted = await owner.submit(operationId, fields).catch((error) => {
      expectRefusal("ledger: submit", error);
    });
    if (!accepted) return undefined;
    const { outcome, ledgerSeq } = await owner.notice(
      "operation/finished",
      (params) => params.operationId === operationId,
    );
    heard({ ledgerSeq });
    return outcome as { status: string; startedAt?: number; error?: { type: string; message: string } };
  };
  const expectTrue = (operationId: string, outcome: Awaited<ReturnType<typeof run>>): void => {
    const times = executions(editor)[operationId] ?? 0;
    expect(times).toBe(outcome?.status === "completed" ? 1 : 0);
    if (outcome === undefined || times === 1) return;
    refusals += 1;
    expect(outcome).toMatchObject({ status: "failed", error: { type: EXPECTED["ledger: begin"].end } });
    expect(outcome).not.toHaveProperty("startedAt");
    expect(saidOf("ledger: begin", folder, errors)).toContain(outcome.error?.message);
  };

  const owner = await hello(1);
  const outcomes = new Map<string, Awaited<ReturnType<typeof run>>>();
  for (const id of ["a", "b"]) {
    outcomes.set(id, await run(owner, id, MENU));
    expectTrue(id, outcomes.get(id));
    // Lost at most, and offered again.
    await owner.request("operation/ack", { operationIds: [id] });
  }
  expect(await run(owner, "read", { tool: "get-hierarchy", arguments: {} })).toMatchObject({
    status: "completed",
  });
  const isRevoked = await owner.request("operation/revoke", { operationId: "never" }).then(
    () => true,
    (error) => {
      expectRefusal("ledger: revoke", error);
      return false;
    },
  );
  const counts = { ...disk.counts };
  const isHealed = fault?.also !== "all";
  if (isHealed) {
    disk.heal();
    expect(await run(owner, "healed", MENU)).toMatchObject({ status: "completed" });
  }

  // What was durable is there, and what has run is known to have run.
  await editor.faults.crash();
  await editor.faults.restart();
  const after = await hello(2);
  const stateOf = async (operationId: string) =>
    String((await after.request("operation/get", { operationId })).state);
  for (const [id, outcome] of outcomes) {
    // The snapshot has what was told meanwhile. Without it, what has begun is interrupted, and what has not may look so.
    const told = outcome?.status ?? "unknown";
    if (isHealed) expect(await stateOf(id)).toBe(told);
    else if (told === "completed") expect(["completed", "interrupted"]).toContain(await stateOf(id));
    else expect(await stateOf(id)).not.toBe("completed");
  }
  if (isRevoked) expect(await stateOf("never")).toBe("revoked");
  if (isHealed) expect(await stateOf("healed")).toBe("completed");
  else expect(await run(after, "healed", MENU)).toMatchObject({ status: "completed" });
  expect(Object.values(executions(editor)).every((times) => times === 1)).toBe(true);
  return { counts, hasFailed: disk.hasFailed(), refusals };
}

const SHORT = ["takes the rest", "refuses the rest"] as const;

const MENU = { arguments: { MenuItemPath: "Assets/Refresh" } };

/** Every fault of a life that needs so many calls. */
function* faultsOf(counts: Record<Call, number>): Generator<Fault> {
  const all: DiskError[] = ["EIO", "ENOSPC", "EROFS", "EACCES"];
  const telling: Record<Call, DiskError[]> = {
    openSync: isLongForm ? all : ["EACCES"],
    writeSync: isLongForm ? ["EIO", "ENOSPC", "EROFS"] : ["ENOSPC"],
    fsyncSync: isLongForm ? ["EIO", "ENOSPC"] : ["EIO"],
    renameSync: isLongForm ? all : ["EROFS"],
  };
  const calls = Object.keys(counts) as Call[];
  for (const call of calls) {
    for (let n = 1; n <= counts[call]; n += 1) {
      for (const error of telling[call]) {
        yield { call, n, error };
        yield { call, n, error, also: "all" };
        if (call === "writeSync") yield* SHORT.map((short): Fault => ({ call, n, error, short }));
        // A new file is opened, written, flushed, renamed; its folder is opened and flushed.
        const heals = call === "fsyncSync" && (isLongForm || n === 4) ? [1, 2, 3, 4, 5, 6] : [];
        for (const also of heals) yield { call, n, error, also };
      }
    }
  }
}

describe("the Editor's ledger", async () => {
  const counts = await live().then((life) => life.counts);
  await stage.clear();
  const faults = [...faultsOf(counts)];
  let refused = 0;
  afterAll(() =>
    console.info(`faults of the ledger's disk: ${faults.length}, of which ${refused} refused a call`),
  );

  test.each(faults)("$call $n: $error, short: $short, also: $also", async (fault) => {
    const { hasFailed, refusals } = await live(fault);
    expect(hasFailed).toBe(true);
    if (refusals > 0) refused += 1;
  });

  test("heals by one new file, which is durable under its name before it counts", async () => {
    const disk = badDisk({ call: "fsyncSync", n: 4, error: "EIO" });
    const editor = await stage.editor({ ledgerFiles: disk.files, heartbeatMs: 3_600_000 });
    const owner = await stage.owner(editor);
    disk.made.length = 0;
    await owner.submit("op", MENU);
    expect(await owner.finished("op")).toMatchObject({ status: "failed" });
    expect(disk.made).toEqual([
      ...["writeSync", "fsyncSync"],
      ...["openSync", "writeSync", "fsyncSync", "renameSync", "openSync", "fsyncSync"],
      ...["writeSync", "fsyncSync"],
    ]);
  });

  const copyInPlace = (file: string): void => {
    fs.copyFileSync(file, `${file}.copy`);
    fs.renameSync(`${file}.copy`, file);
  };
  const spoilt: Record<string, (file: string) => void> = {
    "is deleted": (file) => fs.rmSync(file),
    "is deleted with its folder": (file) => fs.rmSync(dirname(file), { recursive: true }),
    "is replaced by its copy": copyInPlace,
    "is emptied": (file) => fs.truncateSync(file),
    "is cut": (file) => fs.truncateSync(file, 100),
    "has bytes of somebody else": (file) => fs.appendFileSync(file, "?"),
  };
  const after = { "the next call": false, "a heartbeat": true };
  const cells = Object.keys(spoilt).flatMap((how) => Object.keys(after).map((then) => ({ how, then })));

  test.each(cells)("that $how while it is used is whole again after $then", async ({ how, then }) => {
    const isHeartbeat = after[then as keyof typeof after];
    const editor = await stage.editor({ heartbeatMs: isHeartbeat ? 5 : 3_600_000 });
    const owner = await stage.owner(editor);
    const run = async (operationId: string) => {
      await owner.submit(operationId, MENU);
      return owner.finished(operationId);
    };
    expect(await run("a")).toMatchObject({ status: "completed" });
    // Waits behind it: only accepted, in no flushed line.
    const release = await owner.hold("held");
    await owner.submit("b", MENU);
    const ino = () => fs.statSync(editor.ledgerFile, { throwIfNoEntry: false })?.ino;
    spoilt[how]?.(editor.ledgerFile);
    const spoiltIno = ino();
    if (isHeartbeat) await expect.poll(ino).not.toBe(spoiltIno);
    await release();
    expect(await owner.finished("b")).toMatchObject({ status: "completed" });
    const said = memoryOf(owner.hello as unknown as HelloResult);

    await editor.faults.crash();
    await editor.faults.restart();
    const next = await stage.owner(editor, { epoch: 2, ownerNonce: "next" });
    expect(stillHolds(said, next.hello as unknown as HelloResult)).toBe(true);
    for (const operationId of ["a", "b"])
      expect(await next.request("operation/get", { operationId })).toMatchObject({ state: "completed" });
    // The counts lie in the folder of the ledger.
    expect({ held: 1, a: 1, ...executions(editor) }).toEqual({ held: 1, a: 1, b: 1 });
  });

  test("whose file is deleted while a beginning is written lets nothing begin", async () => {
    let file = "";
    const fsyncSync = (descriptor: number): void => {
      fs.fsyncSync(descriptor);
      if (file) fs.rmSync(file);
      file = "";
    };
    const editor = await stage.editor({ ledgerFiles: { ...fs, fsyncSync }, heartbeatMs: 3_600_000 });
    const owner = await stage.owner(editor);
    file = editor.ledgerFile;
    await owner.submit("op", MENU);
    expect(await owner.finished("op")).toMatchObject({
      status: "failed",
      error: { type: EXPECTED["ledger: begin"].end, message: expect.stringContaining("was deleted") },
    });
    expect(executions(editor)).toEqual({});
  });

  test("that cannot be written anew where it was refuses, until it can be", async () => {
    const editor = await stage.editor({ ledgerHealMs: 0, heartbeatMs: 3_600_000 });
    const owner = await stage.owner(editor);
    const folder = dirname(editor.ledgerFile);
    fs.rmSync(folder, { recursive: true });
    fs.writeFileSync(folder, "in the way");
    await expect(owner.submit("a", MENU)).rejects.toMatchObject({
      code: EXPECTED["ledger: submit"].end,
      message: expect.stringContaining("a file is in the way of a folder"),
    });
    fs.rmSync(folder);
    await owner.submit("a", MENU);
    expect(await owner.finished("a")).toMatchObject({ status: "completed" });
    expect(fs.existsSync(editor.ledgerFile)).toBe(true);
  });

  test("that cannot take a session lets no worker into it, also one that was here before", async () => {
    const disk = badDisk({ call: "openSync", n: 2, error: "EROFS", also: "all" });
    const editor = await stage.editor({ ledgerFiles: disk.files, ledgerHealMs: 0 });
    const before = await stage.owner(editor);
    await editor.faults.crash();
    await editor.faults.restart();
    const refusal = await helloRefusal(await stage.client(editor), editor);
    expect(refusal.code).toBe(EXPECTED["ledger: hello"].end);
    expect(saidOf("ledger: hello", dirname(editor.ledgerFile), ["EROFS"])).toEqual([refusal.message]);
    disk.heal();
    const after = await stage.owner(editor);
    expect(after.hello.previousSession).toMatchObject({ editorSessionId: before.hello.editorSessionId });
  });
});
