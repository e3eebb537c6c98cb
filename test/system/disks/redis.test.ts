/** The private Redis on a disk that is full after so many pages, read-only, or no folder: it says so, and starts when it can. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { ensureEmbeddedRedis, stopEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import { isLiving } from "../../../src/shared/machine/living-process.js";
import { eventually } from "../../harness/eventually.js";
import { isLongForm } from "../../harness/long-form.js";
import { type DiskError, EXPECTED, saidOf } from "./expected.js";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ujb-disk-")));
});
afterEach(async () => {
  await stopEmbeddedRedis({ dataDir: folder }).catch(() => false);
  spawnSync("umount", ["-l", folder]);
  rmSync(folder, { recursive: true, force: true });
});

const { cacheDir } = defaultDirectories(process.env);
const start = (dataDir = folder, given: { idleMs?: number } = {}) =>
  ensureEmbeddedRedis({ dataDir, cacheDir, env: process.env, say: () => {}, ...given });
const expectRefusal = (dataDir: string, error: DiskError) => {
  const [message = ""] = saidOf("private Redis", join(dataDir, "redis"), [error]);
  return expect(start(dataDir)).rejects.toMatchObject({
    code: EXPECTED["private Redis"].end,
    message: expect.stringContaining(message),
  });
};

test("a file in the way of its folder", async () => {
  const dataDir = join(folder, "file");
  writeFileSync(dataDir, "");
  await expectRefusal(dataDir, "ENOTDIR");
  rmSync(dataDir);
  expect(await start(dataDir)).toMatchObject({ started: true });
  await stopEmbeddedRedis({ dataDir });
});

const PAGE = 4096;
const mount = (options: string): boolean =>
  spawnSync("mount", ["-t", "tmpfs", "-o", options, "none", folder]).status === 0;
const canMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), "ujb-mount-"));
  const isDone = spawnSync("mount", ["-t", "tmpfs", "none", probe]).status === 0;
  if (isDone) spawnSync("umount", [probe]);
  rmSync(probe, { recursive: true });
  return isDone;
})();

describe.skipIf(!canMount)("a disk of its own (only root may mount one)", () => {
  const PAGES = isLongForm ? [1, 2, 3, 4, 5, 6] : [1, 3, 5];
  let refused = 0;
  afterAll(() =>
    console.info(`faults of the private Redis' disk: ${PAGES.length + 4}, full at start: ${refused}`),
  );

  test.each(PAGES)("that is full %d pages after its folder was made", async (pages) => {
    expect(mount(`size=${pages * PAGE},mode=700`)).toBe(true);
    const failure = await start().then(
      () => undefined,
      (error) => error,
    );
    if (failure) {
      refused += 1;
      expect(failure).toMatchObject({ code: EXPECTED["private Redis"].end });
      expect(failure.message).toMatch(/No space left on device|the disk is full \(ENOSPC\)/);
    }
    expect(spawnSync("mount", ["-o", "remount,size=64m", folder]).status).toBe(0);
    const server = await start();
    const redis = new Redis({ ...server.address, retryStrategy: null });
    expect(
      await eventually(async () => (await redis.set("k", "v").catch(() => "")) === "OK", "it takes a write"),
    ).toBeUndefined();
    redis.disconnect();
  });

  test("that is read-only", async () => {
    expect(mount("size=1m,mode=700")).toBe(true);
    mkdirSync(join(folder, "redis"));
    expect(spawnSync("mount", ["-o", "remount,ro", folder]).status).toBe(0);
    await expectRefusal(folder, "EROFS");
    expect(spawnSync("mount", ["-o", "remount,rw,size=64m", folder]).status).toBe(0);
    expect(await start()).toMatchObject({ started: true });
  });

  const appendfsync = async (redis: Redis) => ((await redis.config("GET", "appendfsync")) as string[])[1];

  test("that becomes full at once ends it, and it starts with all that it had when there is room", async () => {
    expect(mount("size=80m,mode=700")).toBe(true);
    const first = await start();
    const before = new Redis({ ...first.address, retryStrategy: null });
    expect(await appendfsync(before)).toBe("always");
    await before.set("before", "v");
    const filler = join(folder, "filler");
    expect(() => writeFileSync(filler, Buffer.alloc(80 * 1024 * 1024))).toThrow("ENOSPC");
    await expect(before.set("k", "x".repeat(8192))).rejects.toThrow();
    await eventually(() => !isLiving({ pid: first.pid }), "the server has ended");
    await expectRefusal(folder, "ENOSPC");
    const left = readdirSync(join(folder, "redis")).filter((name) => /^endpoint\.json\./.test(name));
    expect(left).toEqual([]);
    rmSync(filler);
    const redis = new Redis({ ...(await start()).address, retryStrategy: null });
    expect([await redis.get("before"), await redis.get("k")]).toEqual(["v", null]);
    redis.disconnect();
  });

  test("that fills up slowly: its server has stopped flushing each write by then, and goes on", async () => {
    expect(mount("size=80m,mode=700")).toBe(true);
    const server = await start(folder, { idleMs: 400 });
    const redis = new Redis({ ...server.address, retryStrategy: null });
    const fill = (name: string, mb: number) =>
      writeFileSync(join(folder, name), Buffer.alloc(mb * 1024 * 1024));
    fill("first", 40);
    await eventually(async () => (await appendfsync(redis)) === "everysec", "little room is seen");
    expect(() => fill("second", 60)).toThrow("ENOSPC");
    const set = (value: string) => redis.set("k", value).catch((error: Error) => error.message);
    await eventually(async () => /^MISCONF/.test((await set("x".repeat(8192))) ?? ""), "a write is refused");
    for (const name of ["first", "second"]) rmSync(join(folder, name));
    await eventually(async () => (await appendfsync(redis)) === "always", "each write is flushed again");
    await eventually(async () => (await set("y")) === "OK", "a write is taken");
    redis.disconnect();
  });

  test("that becomes full: nothing ends, writes are refused, and taken again when there is room", async () => {
    expect(mount("size=1m,mode=700")).toBe(true);
    const server = await start();
    const redis = new Redis({ ...server.address, retryStrategy: null });
    await redis.set("before", "v");
    const filler = join(folder, "filler");
    expect(() => writeFileSync(filler, Buffer.alloc(1024 * 1024))).toThrow("ENOSPC");
    const set = (value: string) => redis.set("k", value).catch((error: Error) => error.message);
    await eventually(async () => /^MISCONF/.test((await set("x".repeat(8192))) ?? ""), "a write is refused");
    expect(await redis.get("before")).toBe("v");
    expect(isLiving({ pid: server.pid })).toBe(true);
    expect(await start()).toMatchObject({ pid: server.pid, started: false });
    rmSync(filler);
    await eventually(async () => (await set("y")) === "OK", "a write is taken");
    redis.disconnect();
  });
});
