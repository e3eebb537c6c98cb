import { describe, expect, test } from "vitest";
import type { BrokerError } from "../../../src/shared/errors.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

describe("the main way", () => {
  test("a call is created, runs once and ends with its result", async () => {
    const { client, executions } = await start();
    const ann = client();
    const { record, relation } = await ann.submit("work", { Name: "a" });
    expect(relation).toBe("created");
    const view = await ann.outcome(record.logId);
    expect(view.record.state).toBe("completed");
    expect(view.result && JSON.parse(view.result)).toEqual({ Done: "a" });
    expect(executions("a")).toBe(1);
  });

  test("identical calls in flight are joined, however many and through however many gateways", async () => {
    const { client, bench, executions, addGateway } = await start();
    const other = await addGateway();
    const ann = client();
    const calls = Array.from({ length: 40 }, () => ann.callOf("work", { Name: "a", Hold: true }));
    const [first] = calls;
    if (!first) throw new Error("no call");
    const submissions = await Promise.all([
      ...calls.map((call) => ann.send(call)),
      ...calls.map((call) => other.broker.submit(call)),
    ]);
    const ids = new Set(submissions.map(({ record }) => record.logId));
    expect(ids.size).toBe(1);
    expect(submissions.filter(({ relation }) => relation === "created")).toHaveLength(1);
    expect(submissions.filter(({ relation }) => relation === "joined")).toHaveLength(79);

    const [logId = ""] = ids;
    await bench.begins("a");
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("joined");
    bench.finish("a");
    await ann.outcome(logId);
    expect(executions("a")).toBe(1);
  });

  test("an outcome that nobody was told replays, and says so", async () => {
    const { client, executions } = await start();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);

    const again = await ann.submit("work", { Name: "a" });
    expect(again).toMatchObject({ relation: "replayed", record: { logId: record.logId } });
    const view = await ann.outcome(record.logId);
    const answer = answerOf(view, { duplicate: "replayed" });
    expect(answer).toMatchObject({
      status: "completed",
      deduplicated: true,
      force_new: record.logId,
    });
    // Said first; and nobody can say that nothing has changed.
    const first = ["status", "deduplicated", "executed_at", "age_seconds", "force_new", "log_id"];
    expect(Object.keys(answer).slice(0, first.length)).toEqual(first);
    expect(answer.message).toMatch(/^Not run again: this call ran at /);
    expect(answer.executed_at).toBe(new Date(view.record.startedAt ?? 0).toISOString());
    expect(executions("a")).toBe(1);
  });

  test("a caller that has read the outcome gets a new run; one that only received it does not", async () => {
    const { client, broker, executions } = await start();
    const ann = client();
    const ran = async (Name: string, isRead: boolean): Promise<string> => {
      const { record } = await ann.submit("work", { Name });
      await ann.outcome(record.logId);
      await broker.delivered(ann.caller, record.logId, { isRead });
      return record.logId;
    };
    const slow = await ran("slow", false);
    expect((await ann.submit("work", { Name: "slow" })).relation).toBe("replayed");
    expect((await client("ann", null).submit("work", { Name: "slow" })).relation).toBe("replayed");
    await broker.named({ principal: "ann", caller: ann.caller }, slow);
    // The other caller is owed it as well.
    expect((await client("ann", null).submit("work", { Name: "slow" })).relation).toBe("replayed");
    const again = await ann.submit("work", { Name: "slow" });
    expect(again).toMatchObject({ relation: "created", record: { after: slow } });
    await ann.outcome(again.record.logId);

    const quick = await ran("quick", true);
    const another = await client("ann", null).submit("work", { Name: "quick" });
    expect(another).toMatchObject({ relation: "created", record: { after: quick } });
    await ann.outcome(another.record.logId);
    expect([executions("slow"), executions("quick")]).toEqual([2, 2]);
  });

  test("a reset behind the answer: its caller is still owed it", async () => {
    const { client, broker, executions, record: recordOf } = await start();
    const ann = client("ann", { id: "process", transport: "stdio" });
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    const noted = broker.delivered(ann.caller, record.logId, { isRead: true });
    await broker.undelivered(ann.caller, record.logId, noted);
    expect((await recordOf(record.logId)).firstDeliveredAt).toBeUndefined();
    expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });

  test("progress and partial results are readable while it runs, and progress wakes who waits", async () => {
    const { client, bench, broker } = await start();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await bench.begins("a");
    bench.report("a", { progress: 1, total: 3, message: "one", partialResult: { Passed: 1 } });
    const first = await ann.until(record.logId, ({ progress }) => progress?.progress === 1);
    expect(first).toMatchObject({ progress: { total: 3, message: "one" }, partialResult: { Passed: 1 } });
    bench.report("a", { progress: 2, total: 3, message: "two", partialResult: { Passed: 2 } });
    await ann.until(record.logId, ({ progress }) => progress?.progress === 2);

    const timedOut = await broker.wait("ann", record.logId, { ms: 0 });
    if (typeof timedOut !== "object") throw new Error("not found");
    expect(answerOf(timedOut, { waitedSeconds: 0 })).toMatchObject({
      status: "timeout",
      state: "running",
      partial_result: { Passed: 2 },
      log_id: record.logId,
    });
    bench.finish("a");
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  });

  test("a tool's failure is its outcome, and replays like one", async () => {
    const { client, bench, executions } = await start();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await bench.begins("a");
    bench.fail("a", "the disk is full");
    const { record: failed } = await ann.outcome(record.logId);
    expect(failed).toMatchObject({ state: "failed", error: { code: "TOOL_FAILED" } });
    expect(failed.error?.message).toContain("the disk is full");
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("replayed");
    expect(executions("a")).toBe(1);
  });
});

describe("what counts as the same call", () => {
  test("set A, set B, set A: the second A sees B and runs", async () => {
    const { client, bench, executions } = await start();
    const ann = client();
    const block = await ann.submit("work", { Name: "block", Hold: true });
    await bench.begins("block");
    const a = await ann.submit("put", { Name: "A" });
    expect((await ann.submit("put", { Name: "A" })).record.logId).toBe(a.record.logId);
    const b = await ann.submit("put", { Name: "B" });
    const again = await ann.submit("put", { Name: "A" });
    expect(again.relation).toBe("created");
    bench.finish("block");
    for (const { record } of [block, a, b, again]) await ann.outcome(record.logId);
    expect(bench.begun).toEqual(["block", "A", "B", "A"]);
    expect(executions("A")).toBe(2);
  });

  test("who joins another's compilation does not join tests from before it; who does not, does", async () => {
    const system = await start();
    const { client, bench } = system;
    const [ann, bob, carol] = [
      client("ann", { id: "a", transport: "http" }),
      client("ann", { id: "b", transport: "http" }),
      client("ann", { id: "c", transport: "http" }),
    ];
    const holds = await bob.submit("work", { Name: "first", Hold: true });
    await bench.begins("first");
    const tests = await bob.submit("run-tests", {});
    const compile = await bob.submit("compile", {});
    expect(await ann.submit("compile", {})).toMatchObject({
      relation: "joined",
      record: { logId: compile.record.logId },
    });
    const own = await ann.submit("run-tests", {});
    expect(own).toMatchObject({ relation: "created" });
    expect((await ann.submit("run-tests", {})).record.logId).toBe(own.record.logId);
    expect(await carol.submit("run-tests", {})).toMatchObject({ relation: "joined" });
    bench.finish("first");
    for (const { record } of [holds, tests, compile, own]) await ann.outcome(record.logId);
  });

  test("a read joins a read in flight, but not one from before a change, and never replays", async () => {
    const { client, bench } = await start();
    const ann = client();
    await ann.submit("work", { Name: "block", Hold: true });
    await bench.begins("block");
    const early = await ann.submit("look", { Name: "x" });
    expect((await ann.submit("look", { Name: "x" })).relation).toBe("joined");
    const change = await ann.submit("work", { Name: "change" });
    const late = await ann.submit("look", { Name: "x" });
    expect(late.relation).toBe("created");
    bench.finish("block");
    for (const { record } of [early, change, late]) await ann.outcome(record.logId);
    expect(bench.begun).toEqual(["block", "x", "change", "x"]);
    expect((await ann.submit("look", { Name: "x" })).relation).toBe("created");
  });

  test("a request that is sent again after its broker died is still that request: nobody says that it was not run again", async () => {
    const { client, broker, bench, executions } = await start();
    const [ann, bob] = [client("ann"), client("ann", { id: "another", transport: "stdio" })];
    const [logId, joining] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
    const called = { ...ann.callOf("work", { Name: "a", Hold: true }), logId };
    const joined = { ...bob.callOf("work", { Name: "a", Hold: true }), logId: joining };
    expect(await ann.send(called)).toMatchObject({ relation: "created", record: { logId } });
    await bench.begins("a");
    expect((await bob.send(joined)).relation).toBe("joined");
    bench.finish("a");
    await ann.outcome(logId);
    expect((await ann.send({ ...called, isResent: true })).relation).toBe("created");
    expect((await bob.send({ ...joined, isResent: true })).relation).toBe("joined");
    const { relation } = await bob.send({ ...joined, logId: "00000000-0000-4000-8000-000000000003" });
    expect(relation).toBe("replayed");
    // Read in between: what its request found stays found.
    await broker.delivered(bob.caller, logId, { isRead: true });
    expect((await bob.send({ ...joined, isResent: true })).relation).toBe("joined");
    expect(executions("a")).toBe(1);
  });

  test("an idempotency key is one operation, for every caller of the principal and any delivery", async () => {
    const { client, broker, executions } = await start();
    const ann = client();
    const key = { idempotency_key: "nightly" };
    const call = ann.callOf("work", { Name: "a" }, key);
    const { record } = await ann.send(call);
    await ann.outcome(record.logId);
    await broker.delivered(ann.caller, record.logId, { isRead: true });
    expect((await ann.submit("work", { Name: "a" }, key)).relation).toBe("replayed");
    expect((await client("ann", null).submit("work", { Name: "a" }, key)).relation).toBe("replayed");
    await expect(ann.submit("work", { Name: "b" }, key)).rejects.toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
    });
    expect(executions("a")).toBe(1);
  });

  test("force_new runs once more, once for each log_id that it names", async () => {
    const { client, executions } = await start();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    const forced = { force_new: record.logId };
    const again = await ann.submit("work", { Name: "a" }, forced);
    expect(again.relation).toBe("created");
    await ann.outcome(again.record.logId);
    expect((await ann.submit("work", { Name: "a" }, forced)).record.logId).toBe(again.record.logId);
    await ann.outcome(
      (await ann.submit("work", { Name: "a" }, { force_new: again.record.logId })).record.logId,
    );
    expect(executions("a")).toBe(3);
  });

  test("a force_new that is no operation of this call is refused, and the refusal names the value to use", async () => {
    const { client, executions } = await start();
    const ann = client();
    const unknown = "9f8c1c1e-0000-4000-8000-000000000000";
    const refused = (given: string): Promise<BrokerError> =>
      ann.submit("work", { Name: "a" }, { force_new: given }).then(
        () => Promise.reject(new Error("not refused")),
        (error: BrokerError) => error,
      );
    const never = await refused(unknown);
    expect(never).toMatchObject({ code: "INVALID_ARGUMENTS", details: { faults: [{ path: "/force_new" }] } });
    expect(never.message).toContain("without force_new");
    expect(never.details).not.toHaveProperty("force_new");

    const { record } = await ann.submit("work", { Name: "a" });
    const { record: other } = await ann.submit("work", { Name: "b" });
    await ann.outcome(record.logId);
    await ann.outcome(other.logId);
    for (const given of [unknown, other.logId, "yes"]) {
      const refusal = await refused(given);
      expect(refusal).toMatchObject({
        code: "INVALID_ARGUMENTS",
        details: { faults: [{ path: "/force_new" }], force_new: record.logId },
      });
      expect(refusal.message).toContain(`pass force_new: "${record.logId}"`);
    }
    expect(executions("a")).toBe(1);
  });
});

describe("principals", () => {
  test("another's operation is not found by any verb, and never joined or replayed", async () => {
    const { client, bench, broker, executions } = await start();
    const ann = client("ann");
    const bob = client("bob");
    const { record } = await ann.submit("work-cancellable", { Name: "a", Hold: true });
    await bench.begins("a");
    const { logId } = record;
    expect(await broker.read("bob", logId)).toBeUndefined();
    expect(await broker.wait("bob", logId, { ms: 5_000 })).toBeUndefined();
    expect(await broker.cancel("bob", logId, bob.caller)).toBeUndefined();
    expect(await broker.list("bob", 10)).toEqual([]);

    const own = await bob.submit("work-cancellable", { Name: "a", Hold: true });
    expect(own).toMatchObject({ relation: "created", record: { after: null } });
    // As an id that nobody has: the refusal names bob's own operation, which is in flight.
    await expect(
      bob.submit("work-cancellable", { Name: "a", Hold: true }, { force_new: logId }),
    ).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining(own.record.logId) as string,
    });
    expect((await ann.reaches(logId, "running")).record.cancel).toBeUndefined();
    bench.finish("a");
    await ann.outcome(logId);
    await bob.reaches(own.record.logId, "running");
    bench.finish("a");
    await bob.outcome(own.record.logId);
    expect(executions("a")).toBe(2);
    expect((await broker.list("bob", 10)).map(({ record: { logId: id } }) => id)).toEqual([own.record.logId]);
  });
});

describe("waiting", () => {
  test("the end of a wait, its abort and the end of its gateway change nothing", async () => {
    const { client, bench, addGateway, broker, executions } = await start();
    const dying = await addGateway();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a", Hold: true });
    await ann.reaches(record.logId, "running");
    const abort = new AbortController();
    const aborted = broker.wait("ann", record.logId, { ms: 3_600_000, signal: abort.signal });
    const orphaned = dying.broker.wait("ann", record.logId, { ms: 3_600_000 });
    await broker.wait("ann", record.logId, { ms: 20 });
    abort.abort();
    expect(await aborted).toMatchObject({ record: { state: "running" } });
    await dying.close();
    expect(await orphaned).toMatchObject({ record: { state: "running" } });
    expect((await ann.submit("work", { Name: "a", Hold: true })).relation).toBe("joined");
    bench.finish("a");
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(executions("a")).toBe(1);
  });

  test("a position in the queue is reported, and moves", async () => {
    const { client, bench } = await start();
    const ann = client();
    const ids: string[] = [];
    for (const Name of ["a", "b", "c"])
      ids.push((await ann.submit("work", { Name, Hold: true })).record.logId);
    await bench.begins("a");
    const [, b = "", c = ""] = ids;
    await ann.until(c, ({ queuePosition }) => queuePosition === 2);
    await ann.until(b, ({ queuePosition }) => queuePosition === 1);
    for (const Name of ["a", "b", "c"]) {
      await bench.begins(Name);
      bench.finish(Name);
    }
    for (const id of ids) await ann.outcome(id);
  });
});
