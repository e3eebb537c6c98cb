/**
 * The schedules in which an earlier draft told an old outcome as the answer to a new call. In each the same call comes
 * again; the Editor's own account says how often it began, and an answer that is not new must say so.
 */
import { describe, expect, test } from "vitest";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { EXPIRY_LIMITS } from "../../../src/shared/operation/expiry.js";
import { keys } from "../../../src/shared/store/keys.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { type McpCaller, useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { eventually, type System, type SystemOptions, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http, stdio } = useMcpCallers();

/** No answer is quick: what proves that it was read must be seen. */
const SLOW: SystemOptions = { gateway: { replay: { ...REPLAY_DEFAULTS, readWithinMs: 0 } } };

const RUN = { SimulatedTests: 1, SimulatedSeconds: 0 };
/** A repeatable tool, and a mutating one. */
const TOOLS = [
  { tool: "run-tests", args: RUN, what: "run-tests" },
  { tool: "work", args: { Name: "a" }, what: "a" },
] as const;

/** As often as the Editor began it. */
const begun = (editor: SimulatedEditor, what: string): number =>
  editor.counter().filter((line) => line.what === what).length;

/** Begun for the call that it answers: nothing of it is older than the call. */
async function expectNew(system: System, answer: Answer): Promise<void> {
  expect(answer).toMatchObject({ status: "completed" });
  expect(answer).not.toHaveProperty("deduplicated");
  const record = await system.record(answer.log_id ?? "");
  expect(record.executedAs).toBeUndefined();
  expect(record.startedAt).toBeGreaterThanOrEqual(record.acceptedAt);
}

/** An old outcome that says so before anything else, with the time of the execution. */
function expectOld(answer: Answer, first: Answer): void {
  expect(Object.keys(answer).slice(0, 2)).toEqual(["status", "deduplicated"]);
  expect(answer).toMatchObject({ status: "completed", deduplicated: true, force_new: expect.any(String) });
  expect(answer.message).toMatch(/^Not run again:/);
  expect(Date.parse(answer.executed_at ?? "")).toBeGreaterThanOrEqual(Date.parse(first.accepted_at ?? ""));
}

/** The Editor was told that its outcomes are stored: it does not tell them again by itself. */
const acknowledged = ({ editor }: System): Promise<void> =>
  eventually(() => editor.status().unacknowledged.length === 0, "the outcomes are acknowledged");

/** Everything is gone but the Editors' own memory; they know the store by its id. */
async function flush({ redis, store, hand }: System): Promise<void> {
  const { storeId } = store;
  await redis.flush();
  await hand.set(keys.storeId, storeId());
}

describe("W1: more runs lie between than anybody counts", () => {
  test.each(TOOLS)("W1: $tool on A, 13 times on B, then on A again: A runs it again", async (story) => {
    const { tool, args, what } = story;
    const system = await start();
    const other = await system.addEditor();
    await system.present(other);
    const { call } = await stdio(system.gateway);
    const on = ({ editorId }: SimulatedEditor) => call(tool, { ...args, editor: editorId });
    const first = await on(system.editor);
    await expectNew(system, first);
    for (let times = 0; times < 13; times += 1) await expectNew(system, await on(other));
    const again = await on(system.editor);
    await expectNew(system, again);
    expect(again.log_id).not.toBe(first.log_id);
    expect([begun(system.editor, what), begun(other, what)]).toEqual([2, 13]);
  });

  test.each(TOOLS)(
    "W1: 13 calls of $tool expire while the Editor is closed: the next runs",
    async (story) => {
      const { tool, args, what } = story;
      const system = await start({ gateway: { limits: { ...EXPIRY_LIMITS, absentMs: 1, unsentMs: 1 } } });
      const { call } = await stdio(system.gateway);
      await expectNew(system, await call(tool, args));
      await system.editor.faults.crash();
      await system.away(system.editor);
      const expired = new Set<string>();
      for (let times = 0; times < 13; times += 1) {
        const { log_id = "" } = await call(tool, { ...args, timeout: 0 });
        await system.gateway.sweep();
        expect((await system.record(log_id)).state).toBe("expired");
        expired.add(log_id);
      }
      expect(expired.size).toBe(13);
      await system.editor.faults.restart();
      await system.present(system.editor);
      await expectNew(system, await call(tool, args));
      expect(begun(system.editor, what)).toBe(2);
    },
  );
});

describe.each([
  { where: "HTTP", connect: http },
  { where: "stdio", connect: stdio },
])("W2 over $where", ({ connect }) => {
  test.each([
    ...TOOLS.map((story) => ({ ...story, force_new: "true" })),
    ...TOOLS.map((story) => ({ ...story, force_new: "9f8c1c1e-0000-4000-8000-000000000000" })),
  ])("W2: $tool with force_new $force_new is refused, and told what to use", async (story) => {
    const { tool, args, what, force_new } = story;
    const system = await start();
    const { call } = await connect(system.gateway);
    const first = await call(tool, args);
    const refused = await call(tool, { ...args, force_new });
    expect(refused).toMatchObject({
      status: "error",
      error_code: "INVALID_ARGUMENTS",
      faults: [{ path: "/force_new" }],
      force_new: first.log_id,
      newest: { deduplicated: true, log_id: first.log_id },
    });
    expect(begun(system.editor, what)).toBe(1);
    await expectNew(system, await call(tool, { ...args, force_new: refused.force_new }));
    expect(begun(system.editor, what)).toBe(2);
  });
});

describe("W3: the outcome was read, and the store is emptied", () => {
  const stories = TOOLS.flatMap((story) => [
    { ...story, when: "before the Editor has told what it knows" },
    { ...story, when: "after the Editor has told what it knows" },
  ]);
  test.each(stories)("W3: $tool, the same call $when", async ({ tool, args, what, when }) => {
    const system = await start({ worker: null });
    const worker = await system.addWorker();
    await system.present(system.editor);
    const { call } = await stdio(system.gateway);
    const first = await call(tool, args);
    await expectNew(system, first);
    await acknowledged(system);
    await worker.close();
    const profile = await system.hand.hgetall(keys.editor(system.editor.editorId));
    const catalog = (await system.hand.get(keys.catalog(system.editor.editorId))) ?? "";
    await flush(system);
    let again: Promise<Answer>;
    if (when.startsWith("before")) {
      // As in a store that goes back a little: the Editor is known, its operations are not.
      const { profile: known = "" } = profile;
      await system.hand.hset(keys.editor(system.editor.editorId), { profile: known });
      await system.hand.set(keys.catalog(system.editor.editorId), catalog);
      await system.hand.zadd(keys.editors, 1, system.editor.editorId);
      // Without the Editor's name it would wait for it (W22).
      const { log_id } = await call(tool, { ...args, editor: system.editor.editorId, timeout: 0 });
      again = call("get_operation_result", { log_id, wait: true });
      await system.addWorker();
    } else {
      await system.addWorker();
      await system.present(system.editor);
      again = call(tool, args);
    }
    const answer = await again;
    if (tool === "run-tests") await expectNew(system, answer);
    else expectOld(answer, first);
    expect(begun(system.editor, what)).toBe(tool === "run-tests" ? 2 : 1);
  });
});

describe("W4: a key that the store has forgotten", () => {
  const key = { idempotency_key: "deploy-7" };
  const staged = async () => {
    const system = await start({ worker: null });
    const worker = await system.addWorker();
    await system.present(system.editor);
    const { call } = await http(system.gateway);
    expect(await call("work", { Name: "a", ...key })).toMatchObject({ status: "completed" });
    await acknowledged(system);
    await worker.close();
    return { system, call };
  };

  test("W4: on another tool, before the Editor has reported: it ends as a conflict, unrun", async () => {
    const { system, call } = await staged();
    const { hash, logId } = (await system.broker.list("local", 1))[0]?.record ?? { hash: "", logId: "" };
    await system.hand.del(keys.operation(logId), keys.chain(hash), keys.tombstone(logId));
    const { log_id } = await call("work-cancellable", { Name: "b", ...key, timeout: 0 });
    await system.addWorker();
    expect(await call("get_operation_result", { log_id, wait: true })).toMatchObject({
      status: "error",
      tool: "work-cancellable",
      error_code: "IDEMPOTENCY_CONFLICT",
    });
    expect([system.executions("a"), system.executions("b")]).toEqual([1, 0]);
  });

  test("W4: on another tool, after the Editor has reported: refused", async () => {
    const { system, call } = await staged();
    await flush(system);
    await system.addWorker();
    await system.present(system.editor);
    expect(await call("work-cancellable", { Name: "b", ...key })).toMatchObject({
      status: "error",
      error_code: "IDEMPOTENCY_CONFLICT",
    });
    expect([system.executions("a"), system.executions("b")]).toEqual([1, 0]);
  });
});

describe("W5: run-tests, compile, run-tests", () => {
  const run = async ({ call }: McpCaller, isPolled: boolean): Promise<Answer> => {
    if (!isPolled) return call("run-tests", RUN);
    const { log_id } = await call("run-tests", { ...RUN, timeout: 0 });
    return call("get_operation_result", { log_id, wait: true });
  };
  const loop = async (
    system: System,
    first: McpCaller,
    second: McpCaller,
    isPolled = false,
  ): Promise<void> => {
    system.editor.edit(1);
    await first.call("compile");
    const red = await run(first, isPolled);
    await expectNew(system, red);
    expect(red.result).toMatchObject({ failed: 1 });
    system.editor.edit(0);
    await second.call("compile");
    const green = await run(second, isPolled);
    await expectNew(system, green);
    expect(green.result).toMatchObject({ failed: 0 });
    expect(begun(system.editor, "run-tests")).toBe(2);
  };

  test.each([{ isPolled: false }, { isPolled: true }])("W5: over HTTP (polled: $isPolled)", async (story) => {
    const system = await start();
    const session = await http(system.gateway);
    await loop(system, session, session, story.isPolled);
  });

  test("W5: over HTTP in a new session", async () => {
    const system = await start();
    await loop(system, await http(system.gateway), await http(system.gateway));
  });

  test.each([{ isPolled: false }, { isPolled: true }])(
    "W5: over stdio, where no answer counts as quick (polled: $isPolled)",
    async (story) => {
      const system = await start(SLOW);
      const process = await stdio(system.gateway);
      await loop(system, process, process, story.isPolled);
    },
  );

  test.each([{ isPolled: false }, { isPolled: true }])(
    "W5: over stdio, the same call again with nothing in between (polled: $isPolled)",
    async ({ isPolled }) => {
      const system = await start(SLOW);
      const process = await stdio(system.gateway);
      await expectNew(system, await run(process, isPolled));
      await expectNew(system, await run(process, isPolled));
      expect(begun(system.editor, "run-tests")).toBe(2);
    },
  );

  test("W5: the first calls of another stdio process", async () => {
    const system = await start();
    await loop(system, await stdio(system.gateway), await stdio(system.gateway));
  });
});

describe("W6: nobody read the outcome, and a new session means the call anew", () => {
  const unread = async () => {
    const system = await start();
    const { call } = await http(system.gateway);
    system.editor.edit(1);
    await call("compile");
    const { log_id = "" } = await call("run-tests", { ...RUN, timeout: 0 });
    await system.client("local").outcome(log_id);
    return { system, log_id };
  };

  test.each(["a compilation", "a domain reload"])("W6: after %s it runs", async (change) => {
    const { system, log_id } = await unread();
    const later = await http(system.gateway);
    if (change === "a compilation") {
      system.editor.edit(0);
      await later.call("compile");
    } else {
      await system.editor.faults.reload();
      const { editorId } = system.editor;
      const isKnown = async () => (await system.store.editors.find(editorId))?.profile.generation === 1;
      await eventually(isKnown, "the broker knows of the reload");
    }
    const answer = await later.call("run-tests", RUN);
    await expectNew(system, answer);
    expect(answer.log_id).not.toBe(log_id);
    expect(begun(system.editor, "run-tests")).toBe(2);
  });

  test("W6: while nothing is known to have changed it is the answer, which says that it is not new", async () => {
    const { system, log_id } = await unread();
    const later = await http(system.gateway);
    const answer = await later.call("run-tests", RUN);
    expectOld(answer, answer);
    expect(answer.log_id).toBe(log_id);
    // CallAnswer now, so it answers nobody any more.
    await expectNew(system, await later.call("run-tests", RUN));
  });
});

describe("W9: the call names another Editor than the one that ran it", () => {
  test.each(TOOLS)(
    "W9: $tool without an Editor ran on A, B appears, a new session names B",
    async (story) => {
      const { tool, args, what } = story;
      const system = await start();
      const first = await http(system.gateway);
      await expectNew(system, await first.call(tool, args));
      const other = await system.addEditor();
      await system.present(other);
      const second = await http(system.gateway);
      const answer = await second.call(tool, { ...args, editor: other.editorId });
      await expectNew(system, answer);
      expect(answer.editor).toBe(other.editorId);
      expect([begun(system.editor, what), begun(other, what)]).toEqual([1, 1]);
    },
  );
});
