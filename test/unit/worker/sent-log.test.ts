import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSentLog, UnusableSentLog } from "../../../src/worker/bridges/sent-log.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-sent-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const call = (
  operationId: string,
  acceptedAt = 1_000,
  hash = `hash of ${operationId}`.replaceAll(" ", "-"),
) => ({
  operationId,
  hash,
  acceptedAt,
  sentAt: acceptedAt + 5,
});
const SIZES = { segmentBytes: 400, segments: 3 };
const active = () => join(folder, "sent.log");

describe("▲12 what was sent", () => {
  test("may be sent once, by the worker that recorded it first", async () => {
    const log = await openSentLog(folder);
    expect(await log.enter(call("a"))).toBe(true);
    expect(await log.enter(call("a"))).toBe(false);
    const other = await openSentLog(folder);
    expect(other.id).toBe(log.id);
    expect(other.find("a")).toMatchObject(call("a"));
    expect(await other.enter(call("a"))).toBe(false);
    expect(await other.enter(call("b"))).toBe(true);
    // A worker that stood still meanwhile.
    expect(await log.enter(call("b"))).toBe(false);
  });

  test("two workers at the same moment: one of them at most", async () => {
    const logs = await Promise.all([openSentLog(folder), openSentLog(folder), openSentLog(folder)]);
    expect(new Set(logs.map(({ id }) => id)).size).toBe(1);
    for (let round = 0; round < 40; round += 1) {
      const may = await Promise.all(logs.map((log) => log.enter(call(`op-${round}`))));
      expect(may.filter(Boolean)).toHaveLength(1);
    }
  });

  test("the latest call of a hash is known, also after opening it again", async () => {
    const log = await openSentLog(folder);
    await log.enter(call("a", 1, "h"));
    await log.enter(call("b", 2, "h"));
    expect(log.latestOfHash("h")?.operationId).toBe("b");
    expect((await openSentLog(folder)).latestOfHash("h")?.operationId).toBe("b");
  });

  test("cut at any byte: what was flushed before is known, the torn line is not, and the next one is", async () => {
    const log = await openSentLog(folder);
    await log.enter(call("first"));
    const before = readFileSync(active()).length;
    await log.enter(call("second"));
    const whole = readFileSync(active());
    for (let at = before; at < whole.length; at += 1) {
      writeFileSync(active(), whole);
      truncateSync(active(), at);
      const again = await openSentLog(folder);
      expect(again.find("first")).toBeDefined();
      // Without its end it was never reported as written.
      expect(again.find("second"), `cut at ${at} of ${whole.length}`).toBeUndefined();
      expect(await again.enter(call("third"))).toBe(true);
      const last = await openSentLog(folder);
      expect([last.find("first"), last.find("third")].every(Boolean)).toBe(true);
    }
  });

  test("rotated: nothing is forgotten that may still be claimed; what is forgotten is before the horizon", async () => {
    const log = await openSentLog(folder, { segmentBytes: 400, segments: 3 });
    const stale = await openSentLog(folder, { segmentBytes: 400, segments: 3 });
    const accepted = (n: number) => 10_000 + n;
    for (let n = 0; n < 60; n += 1) expect(await log.enter(call(`op-${n}`, accepted(n)))).toBe(true);
    expect(readdirSync(folder).length).toBeLessThanOrEqual(4);
    expect(log.forgetHorizon()).toBeGreaterThan(accepted(0));
    for (const each of [log, stale, await openSentLog(folder)]) {
      await each.refresh();
      for (let n = 0; n < 60; n += 1) {
        const known = each.find(`op-${n}`) !== undefined;
        expect(known || accepted(n) < each.forgetHorizon(), `op-${n} may be sent again`).toBe(true);
      }
      expect(each.find("op-59")).toBeDefined();
    }
    expect((await openSentLog(folder)).id).toBe(log.id);
  });

  test("several workers that rotate at once lose nothing", async () => {
    const options = { segmentBytes: 300, segments: 1_000 };
    const logs = await Promise.all([1, 2, 3].map(() => openSentLog(folder, options)));
    const work = async (log: (typeof logs)[number], name: string) => {
      const sent: string[] = [];
      for (let n = 0; n < 30; n += 1) {
        const id = `${name}-${n}`;
        if (await log.enter(call(id)).catch(() => false)) sent.push(id);
      }
      return sent;
    };
    const sent = (await Promise.all(logs.map((log, at) => work(log, `w${at}`)))).flat();
    const last = await openSentLog(folder, options);
    expect(sent.filter((id) => !last.find(id))).toEqual([]);
    // One that meets another in the middle of its rotation is refused: nothing is sent then.
    expect(sent.length).toBeGreaterThan(0);
  });

  const spoilt: Record<string, () => void> = {
    "is deleted": () => rmSync(active()),
    "is deleted with its folder": () => rmSync(folder, { recursive: true }),
    "is emptied": () => truncateSync(active()),
    "is cut in its header": () => truncateSync(active(), 20),
    "is cut in its lines": () => truncateSync(active(), readFileSync(active()).length - 60),
    "has become something else": () => writeFileSync(active(), "something else\n".repeat(50)),
  };
  const lives = Object.keys(spoilt).flatMap((how) => [SIZES, {}].map((sizes) => ({ how, sizes })));

  test.each(lives)("that $how while it is used is written again ($sizes)", async ({ how, sizes }) => {
    const log = await openSentLog(folder, sizes);
    const other = await openSentLog(folder, sizes);
    for (let n = 0; n < 50; n += 1) expect(await log.enter(call(`op-${n}`, 10_000 + n))).toBe(true);
    await other.refresh();
    // Accepted long before it was sent.
    expect(await log.enter(call("late", 1))).toBe(true);
    expect(await log.enter(call("newest", 20_000))).toBe(true);
    const horizon = log.forgetHorizon();
    const known = log.entries().map(({ operationId }) => operationId);
    spoilt[how]?.();
    // One knows less than the other; each writes what it knows.
    await Promise.all([other.refresh(), log.refresh()]);
    expect(await other.enter(call("next", 20_001))).toBe(true);
    expect(await log.enter(call("next", 20_001))).toBe(false);

    for (const each of [log, other, await openSentLog(folder, sizes)]) {
      await each.refresh();
      expect(each.id).toBe(log.id);
      expect(each.forgetHorizon()).toBeGreaterThanOrEqual(horizon);
      for (const operationId of known) {
        const isKnown = each.find(operationId) !== undefined;
        expect(isKnown || 10_000 + Number(operationId.slice(3)) < each.forgetHorizon(), operationId).toBe(
          true,
        );
      }
      expect(await each.enter(call("newest", 20_000))).toBe(false);
    }
  });

  test("an active file that is deleted behind full ones takes nothing with it", async () => {
    const log = await openSentLog(folder, SIZES);
    for (let n = 0; n < 5; n += 1) await log.enter(call(`op-${n}`, 10_000 + n));
    const last = log.entries().at(-1);
    rmSync(active());
    expect(await log.enter(call(`${last?.operationId}`, 10_000))).toBe(false);
    expect((await openSentLog(folder, SIZES)).find(`${last?.operationId}`)).toBeDefined();
  });

  test("deleted between two connections: the next one knows what the one before knew", async () => {
    const before = await openSentLog(folder);
    await before.enter(call("a"));
    rmSync(folder, { recursive: true });
    const log = await openSentLog(folder, { before });
    expect(log.id).toBe(before.id);
    expect(await log.enter(call("a"))).toBe(false);
  });

  test("deleted while a line is written: that call is not sent", async () => {
    let isDeleted = false;
    const open = async (...args: Parameters<typeof promises.open>) => {
      const handle = await promises.open(...args);
      const sync = handle.sync.bind(handle);
      return Object.assign(handle, {
        async sync() {
          await sync();
          if (isDeleted && args[1] !== "r") rmSync(folder, { recursive: true });
          if (args[1] !== "r") isDeleted = false;
        },
      });
    };
    const log = await openSentLog(folder, { files: { ...promises, open } });
    await log.enter(call("a"));
    isDeleted = true;
    await expect(log.enter(call("b"))).rejects.toThrow(/cannot be read back/);
    expect(await log.enter(call("b"))).toBe(true);
    expect((await openSentLog(folder)).entries().map(({ operationId }) => operationId)).toEqual(["a", "b"]);
  });

  test("replaced by another log: refused, until that one is removed as the message says", async () => {
    const log = await openSentLog(folder);
    await log.enter(call("a"));
    rmSync(folder, { recursive: true });
    const other = await openSentLog(folder);
    expect(other.id).not.toBe(log.id);
    await expect(log.enter(call("b"))).rejects.toThrow(`Remove ${folder}`);
    rmSync(folder, { recursive: true });
    expect(await log.enter(call("a"))).toBe(false);
    expect(await log.enter(call("b"))).toBe(true);
    // The worker whose log was removed is told the same.
    await expect(other.enter(call("b"))).rejects.toThrow(UnusableSentLog);
  });

  test("without a readable beginning when it is opened: refused, until it is removed as the message says", async () => {
    writeFileSync(active(), "?");
    await expect(openSentLog(folder)).rejects.toThrow(`Remove that file`);
    rmSync(active());
    expect(await (await openSentLog(folder)).enter(call("a"))).toBe(true);
  });
});
