/**
 * The n-th operation of a kind on the files of sent.log fails, for each n of a short life with rotations, once or for good.
 * What may be sent survives a loss of power in every moment; what may not is told so, and the next call runs when the disk can.
 */
import * as fs from "node:fs";
import * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createPlainEditor } from "../../../src/worker/bridges/plain-editor.js";
import { openSentLog, type SentLogFiles } from "../../../src/worker/bridges/sent-log.js";
import { isLongForm } from "../../harness/long-form.js";
import { type DiskError, EXPECTED, saidOf } from "./expected.js";

const KINDS = [
  "mkdir",
  "open",
  "read",
  "write",
  "sync",
  "writeFile",
  "link",
  "rename",
  "rm",
  "stat",
] as const;
type Kind = (typeof KINDS)[number];
interface Fault {
  kind: Kind;
  n: number;
  error: DiskError;
  /** Of a write: half of it is taken. */
  short?: true;
  lasts?: true;
}

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

/** A disk with this fault, until it is healed, that can lose its power. */
function badDisk(folder: string, fault?: Fault) {
  const counts = new Map<Kind, number>();
  let isHealed = false;
  /** Bytes of each file that are on disk, and the names that are. */
  const flushed = new Map<number, number>();
  let names: string[] = [];

  const isFailing = (kind: Kind): boolean => {
    const n = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, n);
    if (isHealed || fault?.kind !== kind) return false;
    return n === fault.n || (fault.lasts === true && n > fault.n);
  };
  const fails = (kind: Kind): void => {
    if (isFailing(kind)) throw Object.assign(new Error("injected"), { code: fault?.error });
  };
  const failing =
    <A extends unknown[], R>(kind: Kind, really: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      fails(kind);
      return really(...args);
    };
  const open = async (path: string, ...rest: []): Promise<promises.FileHandle> => {
    fails("open");
    const handle = await promises.open(path, ...rest);
    const { write, sync, read } = handle;
    return Object.assign(handle, {
      read: failing("read", read.bind(handle) as (...args: unknown[]) => Promise<unknown>),
      async write(bytes: Buffer) {
        const isShort = fault?.short && isFailing("write");
        if (!fault?.short) fails("write");
        return write.call(handle, (isShort ? bytes.subarray(0, bytes.length / 2) : bytes) as never);
      },
      async sync() {
        fails("sync");
        await sync.call(handle);
        const { ino, size } = await handle.stat();
        if (path === folder) names = fs.readdirSync(folder);
        else flushed.set(ino, size);
      },
    });
  };
  const files = {
    ...promises,
    open,
    mkdir: failing("mkdir", promises.mkdir),
    link: failing("link", promises.link),
    copyFile: failing("link", promises.copyFile),
    rename: failing("rename", promises.rename),
    rm: failing("rm", promises.rm),
    stat: failing("stat", promises.stat),
    writeFile: failing("writeFile", async (path: string, text: string, options: object) => {
      await promises.writeFile(path, text, options);
      flushed.set(fs.statSync(path).ino, text.length);
    }),
  } as unknown as SentLogFiles;
  return {
    files,
    counts,
    heal() {
      isHealed = true;
    },
    losePower() {
      for (const name of fs.readdirSync(folder)) {
        const path = join(folder, name);
        if (names.includes(name)) fs.truncateSync(path, flushed.get(fs.statSync(path).ino) ?? 0);
        else fs.rmSync(path);
      }
    },
  };
}

const call = (operationId: string, acceptedAt: number) => ({
  ...{ operationId, hash: `h-${operationId}`, acceptedAt, sentAt: acceptedAt + 1 },
});
const SIZES = { segmentBytes: 150, segments: 2 };

async function live(fault?: Fault) {
  const folder = fs.mkdtempSync(join(tmpdir(), "ujb-bad-"));
  folders.push(folder);
  const path = join(folder, "sent");
  const disk = badDisk(path, fault);
  const sent: number[] = [];
  let refused = 0;
  let log: Awaited<ReturnType<typeof openSentLog>> | undefined;
  const send = async (n: number): Promise<boolean> => {
    try {
      log ??= await openSentLog(path, { ...SIZES, files: disk.files });
      const may = await log.enter(call(`op-${n}`, n));
      if (may) sent.push(n);
      return may;
    } catch (error) {
      refused += 1;
      if (!fault?.short) expect((error as NodeJS.ErrnoException).code).toBe(fault?.error);
      return false;
    }
  };
  for (let n = 1; n <= 8; n += 1) await send(n);
  const counts = new Map(disk.counts);
  disk.heal();
  expect(await send(9)).toBe(true);
  // A refused attempt leaves nothing behind that the next ones pile up.
  const left = fs.readdirSync(path).filter((name) => name.startsWith("new-"));
  if (fault?.kind !== "rm") expect(left).toEqual([]);

  disk.losePower();
  const after = await openSentLog(path, SIZES);
  expect(after.id).toBe(log?.id);
  for (const n of sent) {
    const isKnown = after.find(`op-${n}`) !== undefined || n < after.forgetHorizon();
    expect(isKnown, `op-${n} was sent, and may be sent again`).toBe(true);
  }
  expect(await after.enter(call("op-10", 10))).toBe(true);
  return { counts, refused };
}

function* faultsOf(counts: ReadonlyMap<Kind, number>): Generator<Fault> {
  const telling: DiskError[] = isLongForm ? ["EIO", "ENOSPC", "EROFS"] : ["EIO"];
  for (const kind of KINDS) {
    for (let n = 1; n <= (counts.get(kind) ?? 0); n += 1) {
      for (const error of telling) {
        yield { kind, n, error };
        if (isLongForm || kind === "write" || kind === "sync") yield { kind, n, error, lasts: true };
        if (kind === "write") yield { kind, n, error, short: true };
      }
    }
  }
}

describe("the record of what was sent", async () => {
  const { counts } = await live();
  const faults = [...faultsOf(counts)];
  let refusals = 0;
  afterAll(() =>
    console.info(`faults of sent.log's disk: ${faults.length}, of which ${refusals} refused a call`),
  );

  test.each(KINDS)("%s fails, each time that it is done", async (kind) => {
    const own = faults.filter((fault) => fault.kind === kind);
    for (const fault of own) {
      const { refused } = await live(fault).catch((error) => {
        throw new Error(`${JSON.stringify(fault)}: ${error.message}`, { cause: error });
      });
      if (refused > 0) refusals += 1;
    }
  });
});

const log = { debug() {}, info() {}, warn() {}, error() {} };

test("an Editor whose sent.log could not be opened says why, and takes calls as soon as it can be", async () => {
  const sentFolder = fs.mkdtempSync(join(tmpdir(), "ujb-bad-"));
  folders.push(sentFolder);
  let isFull = true;
  const open = async (path: string, flags: string | number): Promise<promises.FileHandle> => {
    if (isFull && flags !== "r") throw Object.assign(new Error("injected"), { code: "ENOSPC" });
    return promises.open(path, flags);
  };
  const files = { ...promises, open } as SentLogFiles;
  const sent: string[] = [];
  const editor = createPlainEditor({
    identity: { editorId: "shop", projectName: "Shop", projectPath: undefined },
    sentFolder,
    log,
    effectOf: async () => "mutating",
    limits: { tools: 10, bytes: 10_000 } as never,
    openLog: async (folder) => {
      if (isFull) throw Object.assign(new Error("injected"), { code: "ENOSPC" });
      return openSentLog(folder, { files });
    },
  });
  let end = (): void => undefined;
  const ended = new Promise<string>((resolve) => {
    end = resolve as () => void;
  });
  const finished: ((outcome: unknown) => void)[] = [];
  const { calls } = await editor.greet(
    {
      bridge: "uloop",
      repeatsReads: true,
      closed: ended as never,
      verify: async () => ({}),
      tools: async () => ({ Tools: [] }) as never,
      call: async (tool) => {
        sent.push(tool);
        return { status: "completed", endedAt: 1 };
      },
    },
    (method, params) => {
      if (method === "operation/finished") finished.shift()?.((params as { outcome: unknown }).outcome);
    },
  );
  const submit = (operationId: string) =>
    calls.submit({
      operationId,
      hash: operationId,
      after: null,
      acceptedAt: 1,
      tool: "work",
      arguments: {},
    } as never);
  const [said = ""] = saidOf("sent.log: submit", join(sentFolder, "shop"), ["ENOSPC"]);
  await expect(submit("a")).rejects.toMatchObject({ name: "RpcFailure", message: said });
  const outcomeOf = async (operationId: string) => {
    const outcome = new Promise((resolve) => finished.push(resolve));
    expect(await submit(operationId)).toMatchObject({ state: "accepted" });
    return outcome;
  };
  isFull = false;
  expect(await outcomeOf("b")).toMatchObject({ status: "completed" });
  isFull = true;
  const [unsent = ""] = saidOf("sent.log: send", join(sentFolder, "shop"), ["ENOSPC"]);
  expect(await outcomeOf("c")).toMatchObject({
    status: "failed",
    error: { type: EXPECTED["sent.log: send"].end, message: unsent },
  });
  isFull = false;
  expect(await outcomeOf("d")).toMatchObject({ status: "completed" });
  expect(sent).toEqual(["work", "work"]);
  end();
});
