import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSentLog } from "../../../src/worker/bridges/sent-log.js";

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

  test("gone, replaced or damaged at its beginning: nothing may be sent", async () => {
    const log = await openSentLog(folder);
    await log.enter(call("a"));
    rmSync(active());
    await expect(log.enter(call("b"))).rejects.toThrow();
    const other = await openSentLog(folder);
    expect(other.id).not.toBe(log.id);
    await expect(log.enter(call("b"))).rejects.toThrow(/another log/);
    writeFileSync(active(), "?");
    await expect(openSentLog(folder)).rejects.toThrow(/no readable beginning/);
  });
});
