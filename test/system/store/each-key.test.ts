/**
 * Each key of the store, and each field of its hashes, is deleted in each state of an operation, as an eviction, a person or a
 * faulty disk may delete it. Whatever it was: the call runs at most once, it ends, its log_id still answers, and the next call
 * runs. The keys are those of the page docs/reference/store.md: a key that joins it joins this test.
 */
import { expect, test } from "vitest";
import { createDeliveries } from "../../../src/gateway/exchange.js";
import { BrokerError } from "../../../src/shared/errors.js";
import { isFinal } from "../../../src/shared/operation/operation.js";
import { TOMBSTONE_MS } from "../../../src/shared/store/keys.js";
import { isLongForm } from "../../harness/long-form.js";
import { keysOfPage, shapeOf } from "../../harness/redis/store-page.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

const STATES = ["queued", "running", "ended"] as const;
type State = (typeof STATES)[number];

/** What becomes of the call: how its repetition and its log_id answer, and how often it ran. */
interface Fate {
  again: string;
  logId: string;
  runs: number;
}

const USUAL: Fate = { again: "completed, with its result", logId: "completed", runs: 1 };

/** What cannot be as usual, because nobody else knows what was deleted. */
const UNUSUAL: Record<string, Partial<Fate>> = {
  // It was never sent, so no Editor knows it: the repetition is a new call.
  "queued · {ujb}:operation:<>": { logId: "unknown" },
  "queued · {ujb}:operation:<> doc": { logId: "unknown" },
  // Nothing but what the caller wrote is sent.
  "queued · {ujb}:operation:<> arguments": {
    again: "interrupted: The broker's store has lost its arguments.",
    logId: "interrupted",
    runs: 0,
  },
  "ended · {ujb}:operation:<> result": { again: "completed, without its result" },
};

/** Rows that these operations do not write: of clients, logins and pools, of large results, of limits that are not reached, of a moment. */
const OTHERS =
  /:(arguments|client-state-key|clients|derived|derived-use|derived-shares|given-up|held|log|login|mutations-by|pools|resource|resource-wanted|result|room-wanted|session|sessions|staged|sweeper|troubles)(:|$)/;

/** Of these the short form plays no fields: counters, and what BullMQ notes of a job. Others but the record's it plays in one state. */
const COUNTED = /tally|lease-holder|bull|turns|sums|shares/;

const RECORD = "{ujb}:operation:<>";

const page = keysOfPage().map(({ key }) => ({
  shape: shapeOf(key),
  matches: new RegExp(
    `^${key
      .replaceAll(/[{}.]/g, "\\$&")
      .replaceAll(/<[^>]*>/g, ".+")
      .replace("…", ".+")}$`,
    "s",
  ),
}));

/** What is deleted: a key, or one field of it. */
interface Part {
  name: string;
  key: string;
  field?: string;
}

/** A log_id or a hash. */
const ID = /[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f-]{27}/;

/** BullMQ's keys have one row in the page, so they keep what follows the queue. */
function shapeOfKey(key: string): string {
  const bull = /^\{ujb\}:bull:[^:]*:(.*)$/s.exec(key)?.[1];
  if (bull !== undefined) return `{ujb}:bull:<>:${bull.replace(/^[0-9a-f]{64}[.].{36}/, "<>")}`;
  return page.find(({ matches }) => matches.test(key))?.shape ?? `not on the page: ${key}`;
}

/** The parts of what the store holds now, without what it holds for other operations. */
async function partsOf({ hand }: System, own: readonly string[]): Promise<Part[]> {
  const parts: Part[] = [];
  for (const key of (await hand.keys("{ujb}:*")).sort()) {
    if (ID.test(key) && !own.some((id) => key.includes(id))) continue;
    const shape = shapeOfKey(key);
    parts.push({ name: shape, key });
    if ((await hand.type(key)) !== "hash" || (COUNTED.test(key) && !isLongForm)) continue;
    for (const field of await hand.hkeys(key)) {
      const name = `${shape} ${field.replace(/@[0-9a-f]+$/, "@<>").replace(ID, "<>")}`;
      parts.push({ name, key, field });
    }
  }
  return parts;
}

const lose = ({ hand }: System, { key, field }: Part): Promise<number> =>
  field === undefined ? hand.del(key) : hand.hdel(key, field);

/** A call is brought to this state, something is lost, and the call is sent again by its key. */
async function play(
  system: System,
  { state, number, lost }: { state: State; number: number; lost?: string },
): Promise<{ fate: Fate; parts: Part[] }> {
  const { bench, broker } = system;
  const [name, blocker] = [`subject-${number}`, `blocker-${number}`];
  const ann = system.client("ann", { id: `session ${number}`, transport: "http" });
  const send = () => ann.submit("work", { Name: name, Hold: state === "running" }, { idempotency_key: name });
  if (state === "queued") {
    await ann.submit("work", { Name: blocker, Hold: true });
    await bench.begins(blocker);
  }
  const { record } = await send();
  const { logId } = record;
  if (state === "running") {
    await ann.reaches(logId, "running");
    bench.report(name, { progress: 1, total: 2, partialResult: "half" });
    await ann.until(logId, ({ progress }) => progress !== undefined);
  }
  if (state === "ended") await ann.outcome(logId);
  await send();
  const parts = await partsOf(system, [logId, record.hash]);
  const part = parts.find((each) => each.name === lost);
  if (part) await lose(system, part);

  if (state === "queued") bench.finish(blocker);
  if (state === "running") bench.finish(name);
  const seen: Partial<Fate> = {};
  await eventually(
    async () => {
      try {
        const { record: found } = await send();
        const view = await broker.wait("ann", found.logId, { ms: 200 });
        if (typeof view !== "object" || !isFinal(view.record.state)) return false;
        const { state: ended, error } = view.record;
        const result = view.result === undefined ? "without its result" : "with its result";
        seen.again = ended === "completed" ? `completed, ${result}` : `${ended}: ${error?.message}`;
      } catch (error) {
        // The Editors are asked first for what they know.
        if (error instanceof BrokerError && error.code !== "INTERNAL") return false;
        throw error;
      }
      const first = await broker.look("ann", logId);
      seen.logId = typeof first === "object" ? first.record.state : (first ?? "unknown");
      return typeof first !== "object" || isFinal(first.record.state);
    },
    `${state} · ${lost}: it ends (${JSON.stringify(seen)})`,
  );
  const runs = bench.begun.filter((begun) => begun === name).length;
  return { fate: { again: "", logId: "", ...seen, runs }, parts };
}

test("whatever single key or field of the store is lost, no call runs twice, and none stays", async () => {
  const system = await start({
    gateway: { sweepMs: 150, safetyPollMs: 100 },
    editor: { labels: ["gpu"] },
  });
  const met = new Set<string>();
  const faults: Record<string, unknown> = {};
  let number = 0;
  for (const state of STATES) {
    number += 1;
    const whole = await play(system, { state, number });
    expect(whole.fate, `${state}, nothing lost`).toEqual(USUAL);
    const isPlayed = ({ name, field }: Part): boolean =>
      isLongForm || field === undefined || name.startsWith(RECORD) || !met.has(name);
    const played = whole.parts.filter(isPlayed);
    for (const lost of new Set(played.map(({ name }) => name))) {
      number += 1;
      met.add(lost);
      const { fate } = await play(system, { state, number, lost });
      const expected = { ...USUAL, ...UNUSUAL[`${state} · ${lost}`] };
      if (JSON.stringify(fate) !== JSON.stringify(expected)) faults[`${state} · ${lost}`] = fate;
    }
  }
  console.log(`${number} calls, ${met.size} keys and fields of the store`);
  expect(faults).toEqual({});
  const missing = page.map(({ shape }) => shape).filter((shape) => !met.has(shape) && !OTHERS.test(shape));
  expect(missing, "rows of the page that no operation has met").toEqual([]);
});

/** Of these the short form plays only the keys that name an operation, or the hash of its call. */
const isOfCall = ({ key }: Part): boolean => isLongForm || ID.test(key);

/** Sends until the Editors have been asked for what they know. */
async function whenAsked<T>(send: () => Promise<T>): Promise<T> {
  const answers: T[] = [];
  await eventually(async () => {
    try {
      answers.push(await send());
      return true;
    } catch (error) {
      if (error instanceof BrokerError && error.code !== "INTERNAL") return false;
      throw error;
    }
  }, "it is accepted");
  return answers[0] as T;
}

test("a call whose outcome was read is sent twice after any loss: the two are one run", async () => {
  const system = await start({ gateway: { sweepMs: 150, safetyPollMs: 100 } });
  const { bench, store } = system;
  const playRead = async (number: number, lost?: string) => {
    const name = `subject-${number}`;
    const ann = system.client("ann", { id: `session ${number}`, transport: "http" });
    const send = () => ann.submit("work", { Name: name });
    const first = (await send()).record;
    await ann.outcome(first.logId);
    await createDeliveries(store.operations).delivered(ann.caller, first.logId, { isRead: true });
    await ann.submit("work", { Name: `blocker-${number}`, Hold: true });
    await bench.begins(`blocker-${number}`);
    const parts = await partsOf(system, [first.logId, first.hash]);
    const part = parts.find((each) => each.name === lost);
    if (part) await lose(system, part);
    const again = [await whenAsked(send), await whenAsked(send)];
    bench.finish(`blocker-${number}`);
    for (const { record } of again) await ann.outcome(record.logId);
    const runs = bench.begun.filter((begun) => begun === name).length;
    return { parts, runs, logIds: new Set(again.map(({ record }) => record.logId)).size };
  };
  const { parts, ...whole } = await playRead(0);
  expect(whole).toEqual({ runs: 2, logIds: 1 });
  const names = [...new Set(parts.filter(isOfCall).map(({ name }) => name))];
  for (const [at, lost] of names.entries()) {
    // Who had read it is lost with the record: it is not run again unasked.
    const runs = lost === RECORD || lost === `${RECORD} doc` ? 1 : 2;
    expect(await playRead(at + 1, lost), lost).toMatchObject({ runs, logIds: 1 });
  }
});

test("a key that waits in a pool and has run in a named Editor is found in both after any loss", async () => {
  const labels = ["farm"];
  const system = await start({ gateway: { sweepMs: 150, safetyPollMs: 100 }, editor: { labels } });
  const { bench } = system;
  const [second, other] = [await system.addEditor({ labels }), await system.addEditor({ labels: ["other"] })];
  for (const each of [system.editor, second, other]) await system.present(each);
  let number = 0;
  const playBoth = async (whose: "waits" | "ran", lost?: string) => {
    number += 1;
    const name = `subject-${number}`;
    const ann = system.client("ann", { id: `session ${number}`, transport: "http" });
    const send = (editor: string) => ann.submit("work", { Name: name }, { editor, idempotency_key: name });
    for (const { editorId } of [system.editor, second]) {
      await ann.submit("work", { Name: `${number} ${editorId}`, Hold: true }, { editor: editorId });
      await bench.begins(`${number} ${editorId}`);
    }
    const waits = (await send("pool:farm")).record;
    const ran = (await send(other.editorId)).record;
    await ann.outcome(ran.logId);
    const parts = await partsOf(system, [{ waits, ran }[whose].logId, ran.hash]);
    const part = parts.find((each) => each.name === lost);
    if (part) await lose(system, part);
    const again = [await whenAsked(() => send("pool:farm")), await whenAsked(() => send(other.editorId))];
    for (const { editorId } of [system.editor, second]) bench.finish(`${number} ${editorId}`);
    for (const { record } of again) await ann.outcome(record.logId);
    return { parts, runs: bench.begun.filter((begun) => begun === name).length };
  };
  for (const whose of ["waits", "ran"] as const) {
    const { parts, runs } = await playBoth(whose);
    expect(runs).toBe(2);
    for (const lost of new Set(parts.filter(isOfCall).map(({ name }) => name))) {
      // Of an operation that waits, nobody else has the arguments.
      const all = whose === "waits" && lost === `${RECORD} arguments` ? 1 : 2;
      expect((await playBoth(whose, lost)).runs, `${whose} · ${lost}`).toBe(all);
    }
  }
});

test("an Editor whose entry or tools are lost is introduced again by its heartbeat", async () => {
  const { editor, hand, store } = await start();
  const { editorId } = editor;
  const before = await store.editors.tools(editorId);
  await hand.del(`{ujb}:editor:${editorId}`, `{ujb}:catalog:${editorId}`);
  await eventually(async () => {
    const [known, tools] = await Promise.all([store.editors.find(editorId), store.editors.tools(editorId)]);
    return known?.live !== undefined && tools.length === before.length;
  }, "it is known, with its tools");
});

test("a record of a pool's operation is lost: the Editor that ran it answers the next call, no other runs it", async () => {
  const labels = ["farm"];
  const system = await start({ gateway: { safetyPollMs: 50 }, editor: { labels } });
  const { bench, hand } = system;
  await system.present(await system.addEditor({ labels }));
  const ann = system.client();
  const send = async (name: string) => {
    const { record } = await ann.submit(
      "work",
      { Name: name },
      { editor: "pool:farm", idempotency_key: name },
    );
    return (await ann.outcome(record.logId)).record;
  };
  for (const name of ["a", "b", "c", "d", "e", "f"]) {
    const { logId } = await send(name);
    await hand.del(`{ujb}:operation:${logId}`);
    expect((await send(name)).state).toBe("completed");
  }
  expect(bench.begun).toEqual(["a", "b", "c", "d", "e", "f"]);
});

test("arguments that are not what was stored any more end their call, and those behind it go on", async () => {
  const system = await start();
  const { bench, hand } = system;
  const ann = system.client();
  const block = await ann.submit("work", { Name: "block", Hold: true });
  await bench.begins("block");
  const { record } = await ann.submit("work", { Name: "a" });
  const behind = await ann.submit("work", { Name: "b" });
  await hand.hset(`{ujb}:operation:${record.logId}`, "arguments", "junk");
  bench.finish("block");
  await ann.outcome(block.record.logId);
  expect((await ann.outcome(record.logId)).record).toMatchObject({ state: "interrupted" });
  expect((await ann.outcome(behind.record.logId)).record.state).toBe("completed");
  expect(bench.begun).toEqual(["block", "b"]);
});

test("a retention that has ended is no loss: nothing is asked again, and the call is a new one", async () => {
  const system = await start({ retentionMs: 1_000 });
  const { bench, broker, hand, store } = system;
  const ann = system.client();
  const send = () => ann.submit("work", { Name: "a" });
  const { record } = await send();
  await ann.outcome(record.logId);
  const incarnation = await store.operations.incarnation();
  await eventually(async () => (await hand.exists(`{ujb}:operation:${record.logId}`)) === 0, "it is over");
  expect(await broker.look("ann", record.logId)).toBe("retention_ended");
  const again = await send();
  expect(again.relation).toBe("created");
  await ann.outcome(again.record.logId);
  expect(bench.begun).toEqual(["a", "a"]);
  expect(await store.operations.incarnation()).toBe(incarnation);
});

test("the clock of Redis was set beyond the retention: the Editor's own clock says that the outcome is young", async () => {
  const system = await start();
  const { bench, hand } = system;
  const ann = system.client();
  const send = async () => {
    const { record } = await ann.submit("work", { Name: "a" }, { idempotency_key: "a" });
    return (await ann.outcome(record.logId)).record;
  };
  const { logId } = await send();
  // What Redis does with its keys when its clock jumps by a day and a bit. One after the other, the first alone would be a loss, which heals.
  await hand
    .multi()
    .del(`{ujb}:operation:${logId}`)
    .pexpire(`{ujb}:tombstone:${logId}`, TOMBSTONE_MS - 60_000)
    .exec();
  expect(await send()).toMatchObject({ state: "completed", executedAs: logId });
  expect(bench.begun).toEqual(["a"]);
});
