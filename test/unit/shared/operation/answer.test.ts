import { describe, expect, test } from "vitest";
import { answerOf, notFound, type OperationView } from "../../../../src/shared/operation/answer.js";
import type { EditorAway } from "../../../../src/shared/operation/flight.js";
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import { executed, HOUR, MARK, MINUTE, NOW, operation, tested } from "../record.js";

const view = (record: OperationRecord, changes: Partial<OperationView> = {}): OperationView => ({
  record,
  editorNow: MARK,
  now: NOW,
  ...changes,
});
const error = (code: string) => ({ code, type: "some_type", message: "It went wrong." });

test("a result that the store has lost is said to be lost, where results are shown", () => {
  const lost = view(executed({ resultBytes: 12 }));
  expect(answerOf(lost).message).toContain("The broker's store has lost its result.");
  for (const other of [
    answerOf(lost, { brief: true }),
    answerOf({ ...lost, result: "1" }),
    answerOf(view(executed())),
  ])
    expect(other.message).not.toContain("lost");
});

describe("what a caller is told of an operation in flight", () => {
  test("a wait of the call that ended is a timeout; asked for it, the operation is running", () => {
    expect(answerOf(view(operation()), { waitedSeconds: 1 }).status).toBe("timeout");
    expect(answerOf(view(operation())).status).toBe("running");
  });

  test("it goes on, how to read it, and neither to send it again nor to restart Unity", () => {
    const { message, log_id } = answerOf(view(operation()), { waitedSeconds: 1 });
    expect(log_id).toBe("op1");
    expect(message).toContain("The wait of 1 s ended; the operation goes on.");
    expect(message).toContain("get_operation_result");
    expect(message).toContain("Do not send the call again and do not restart Unity.");
  });

  test("progress, partial result and place in the queue are passed on", () => {
    const live = { progress: { progress: 2, total: 4 }, partialResult: [1], queuePosition: 3 };
    expect(answerOf(view(operation(), live))).toMatchObject({
      progress: { progress: 2, total: 4 },
      partial_result: [1],
      queue_position: 3,
      message: expect.stringContaining("behind 3 other(s)"),
    });
  });

  describe("whose Editor is away", () => {
    const AWAY: EditorAway = {
      project: "Game",
      lastSeenAt: NOW - 40_000,
      hasClosed: true,
      gone: undefined,
      deadline: { event: "expired", at: NOW + MINUTE },
      mayHaveBeenSent: false,
    };
    const away = (record: OperationRecord, changes: Partial<EditorAway> = {}) =>
      answerOf(view(record, { editorNow: undefined, editorAway: { ...AWAY, ...changes } }));
    const at = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

    test("what waits: when it closed, when the wait expires, what to ask the user for", () => {
      const { message, ...answer } = away(operation());
      expect(message).toContain(`The Editor of Game has closed (last seen at ${at(NOW - 40_000)}).`);
      expect(message).toContain(
        `has not started: it waits for the Editor, and expires at ${at(NOW + MINUTE)}`,
      );
      expect(message).toContain("Ask the user to open Game in Unity.");
      expect(message).toMatch(/folder was renamed or moved.*cancel this operation and name that one/);
      expect(message).toMatch(/Do not send the call again.$/);
      expect(answer).toMatchObject({
        editor_closed: true,
        editor_last_seen_at: new Date(NOW - 40_000).toISOString(),
        waits_until: new Date(NOW + MINUTE).toISOString(),
      });
    });

    test.each(["dispatched", "running"] as const)("what is %s is never said to be running there", (state) => {
      const record = operation({ state, startedAt: NOW - HOUR, executionClass: "quick" });
      const deadline = { event: "interrupted", at: NOW + HOUR } as const;
      const { message } = away(record, { deadline, gone: "closed" });
      expect(message).toMatch(
        /has closed .* may have finished: its outcome is collected when the Editor is back/,
      );
      expect(message).toContain(`marked interrupted at ${at(NOW + HOUR)}; cancel_operation ends it at once.`);
      expect(message).toContain("open Game in Unity");
      expect(message).not.toMatch(/is running|goes on|restart Unity/);
    });

    test("one that may be reloading is not said to have closed, and a cancellation waits for it", () => {
      const record = operation({ state: "running", cancel: { requestedAt: NOW } });
      const { message, ...answer } = away(record, { hasClosed: false });
      expect(message).toContain(
        `is not connected, and was last seen at ${at(NOW - 40_000)}: it is reloading`,
      );
      expect(message).toContain("Its cancellation is delivered then.");
      expect(message).not.toContain("cancel_operation");
      expect(answer).not.toHaveProperty("editor_closed");
    });
  });

  test("what is held back by its caller's limit says by what", () => {
    const by = [{ logId: "op7", tool: "build", editor: "game@1" }];
    const answer = answerOf(view(operation(), { heldBack: { limit: 5, by } }));
    expect(answer.held_back).toEqual({ limit: 5, by: [{ log_id: "op7", tool: "build", editor: "game@1" }] });
    expect(answer.message).toMatch(
      /held back: 5 operation.*UNITY_BROKER_MAX_RUNNING.*build on game@1 \(op7\)/,
    );
  });

  test("what keeps the Editor from working is said in its place, with what to do", () => {
    const diagnosis = { code: "MODAL_DIALOG", message: "A dialog is open.", next: "Answer it." } as const;
    const editorAway = {
      project: "Game",
      lastSeenAt: NOW,
      hasClosed: false,
      gone: undefined,
      deadline: undefined,
      mayHaveBeenSent: false,
    };
    const away = answerOf(view(operation(), { editorNow: undefined, editorAway, diagnosis }));
    expect(away.message).toMatch(/waits for the Editor.*A dialog is open. Answer it. Read it with/);
    expect(away.message).not.toContain("Ask the user to open");
    expect(away.diagnosis).toEqual(diagnosis);
    expect(answerOf(view(executed(), { diagnosis }))).not.toHaveProperty("diagnosis");
  });

  test("what runs past its class is overdue, and goes on", () => {
    const record = operation({ state: "running", startedAt: NOW - 31_000, executionClass: "quick" });
    const answer = answerOf(view(record));
    expect(answer).toMatchObject({ status: "running", execution_class: "quick", overdue: true });
    expect(answer.message).toMatch(/run for 31 s.*quick.*within 30 s.*not stopped for that/);
    expect(answerOf(view({ ...record, startedAt: NOW - 30_000 }))).not.toHaveProperty("overdue");
  });

  test("a joined call is told that it joined, and no value to run it beside the one in flight", () => {
    const answer = answerOf(view(operation()), { duplicate: "joined" });
    expect(answer).toMatchObject({
      deduplicated: true,
      message: expect.stringMatching(/^The same call is already in flight, and this one joined it/),
    });
    expect(answer).not.toHaveProperty("force_new");
  });

  test("a call that has joined what was put back after a loss is told an old outcome as one", () => {
    const restored = { rebuilt: true as const };
    const waiting = answerOf(view(operation(restored)), { duplicate: "joined" });
    expect(waiting.message).toMatch(/^The same call was sent before the broker's store lost data/);
    const answer = answerOf(view(executed(restored)), { duplicate: "joined" });
    expect(answer).toMatchObject({ deduplicated: true, age_seconds: 20, force_new: "op1" });
    expect(answer.message).toMatch(/^Not run again: this call ran at /);
  });

  test("a call that has joined is told at its end that one run answers both, and not that it was not run", () => {
    const answer = answerOf(view(executed()), { duplicate: "joined" });
    expect(answer).toMatchObject({ deduplicated: true, executed_at: expect.any(String) });
    expect(answer).not.toHaveProperty("age_seconds");
    expect(answer.message).toMatch(
      /^This call joined the same call in flight, which began at \S+: one run answers both\./,
    );
    expect(answer.message).not.toContain("Not run again");
  });

  test("the Editor's word about a cancellation is passed on", () => {
    const asked = operation({ state: "running", cancel: { requestedAt: NOW } });
    expect(answerOf(view(asked)).cancel).toBe("requested");
    const answered = operation({ state: "running", cancel: { requestedAt: NOW, answer: "not_cancellable" } });
    expect(answerOf(view(answered)).cancel).toBe("not_cancellable");
  });
});

describe("what a caller is told of the end", () => {
  test("completed: the result as it was", () => {
    expect(answerOf(view(executed(), { result: '{"errors":0}' }))).toMatchObject({
      status: "completed",
      state: "completed",
      result: { errors: 0 },
      execution_ms: 20_000,
    });
  });

  test("a brief answer leaves the result out", () => {
    expect(answerOf(view(executed(), { result: "1" }), { brief: true })).not.toHaveProperty("result");
  });

  test("only a brief answer names the client that made the call", () => {
    const record = executed();
    const named = executed({ createdBy: { ...record.createdBy, client: "claude-code 1.0.3" } });
    expect(answerOf(view(named), { brief: true }).client).toBe("claude-code 1.0.3");
    expect(answerOf(view(named))).not.toHaveProperty("client");
    expect(answerOf(view(record), { brief: true })).not.toHaveProperty("client");
  });

  test("failed: the Editor's own error", () => {
    expect(answerOf(view(executed({ state: "failed", error: error("TOOL_FAILED") })))).toMatchObject({
      status: "error",
      error: "It went wrong.",
      error_code: "TOOL_FAILED",
      error_type: "some_type",
    });
  });

  test("▲9 interrupted: unknown is said, with evidence and the way to run it again, never as a success", () => {
    const record = operation({ state: "interrupted", error: error("OUTCOME_UNKNOWN") });
    const answer = answerOf(view(record, { progress: { progress: 3 }, partialResult: "half" }));
    expect(answer).toMatchObject({
      status: "error",
      error_code: "OUTCOME_UNKNOWN",
      force_new: "op1",
      progress: { progress: 3 },
      partial_result: "half",
    });
    expect(answer.message).toContain("is not run again automatically");
  });

  test("▲15 expired: it never started", () => {
    const answer = answerOf(view(operation({ state: "expired", error: error("EXPIRED") })));
    expect(answer).toMatchObject({ status: "error", error_code: "EXPIRED" });
    expect(answer.message).toContain("It never started.");
  });

  test("cancelled says whether it had begun", () => {
    expect(answerOf(view(operation({ state: "cancelled" }))).message).toContain("before it started");
    expect(answerOf(view(executed({ state: "cancelled" }))).message).toContain("while it ran");
  });
});

describe("invariant 7: a duplicate is told so, first", () => {
  const record = executed({ editorMark: MARK });

  test("a replay says when it was executed, how old it is, and how to run it again", () => {
    const answer = answerOf(view(record, { result: "1" }), { duplicate: "replayed" });
    expect(answer).toMatchObject({
      deduplicated: true,
      executed_at: new Date(NOW - 40_000).toISOString(),
      age_seconds: 20,
      force_new: "op1",
    });
    expect(answer.message).toMatch(/^Not run again: this call ran at .*pass force_new: "op1"/);
  });

  test("right after the status, before anything that could be read as new", () => {
    const answer = answerOf(view(record, { result: "1" }), { duplicate: "replayed" });
    const order = ["status", "deduplicated", "executed_at", "age_seconds", "force_new", "log_id"];
    expect(Object.keys(answer).slice(0, order.length)).toEqual(order);
  });

  test("▲10 (b) W3: an answer from another operation's execution says so, also to a caller that asked once", () => {
    const answer = answerOf(view(executed({ logId: "op2", executedAs: "op1" })));
    expect(answer).toMatchObject({ deduplicated: true, executed_at: new Date(NOW - 40_000).toISOString() });
    expect(answer.message).toMatch(/^Not run again: /);
  });

  test("what was sent and never seen to run is not said to have run, and is looked at before it runs once more", () => {
    const unknown = operation({
      state: "interrupted",
      dispatchedAt: NOW - 5_000,
      error: error("OUTCOME_UNKNOWN"),
    });
    const { message } = answerOf(view(unknown), { duplicate: "replayed" });
    expect(message).toMatch(
      /^Not run again: this call was sent at \S+, and its outcome is unknown\. It went wrong\./,
    );
  });

  test("what the Editor refused was not executed at any time", () => {
    const refused = operation({ state: "failed", dispatchedAt: NOW - 5_000, error: error("EDITOR_REFUSED") });
    expect(answerOf(view(refused), { duplicate: "replayed" })).not.toHaveProperty("executed_at");
  });

  test("the same call of a repeatable tool runs again, but not with the key or the force_new that names this one", () => {
    const says = (changes: Partial<OperationRecord>) =>
      answerOf(view(tested(changes)), { duplicate: "replayed" }).message;
    expect(says({})).toContain("Sending the same call again runs it again.");
    for (const named of [{ keyed: true }, { supersedes: "op0" }])
      expect(says(named)).toMatch(/To run it again, pass force_new: "\w+"/);
  });

  test("▲8 each final answer of a mutating tool has the value for another run; of a repeatable one only a duplicate's", () => {
    expect(answerOf(view(executed())).force_new).toBe("op1");
    expect(answerOf(view(executed({ state: "failed" }))).force_new).toBe("op1");
    expect(answerOf(view(operation()))).not.toHaveProperty("force_new");
    expect(answerOf(view(tested()))).not.toHaveProperty("force_new");
    expect(answerOf(view(tested()), { duplicate: "replayed" }).force_new).toBe("op1");
  });

  test("▲6 it is never said that nothing has changed: nobody sees files on disk", () => {
    const answer = answerOf(view(record), { duplicate: "replayed" });
    expect(answer).not.toHaveProperty("editor_changed_since");
    const earlier = { ...MARK, generation: 2, assetCounter: 7 };
    const reported = answerOf(view(record, { editorNow: earlier }), { duplicate: "replayed" });
    expect(reported).not.toHaveProperty("editor_changed_since");
  });

  test.each([{ editorSessionId: "s2" }, { generation: 4 }, { assetCounter: 9 }])(
    "▲6 the Editor changed since: %j",
    (change) => {
      const answer = answerOf(view(record, { editorNow: { ...MARK, ...change } }), { duplicate: "replayed" });
      expect(answer.editor_changed_since).toBe(true);
    },
  );

  test("▲6 nothing is claimed of an Editor that is away", () => {
    const answer = answerOf(view(record, { editorNow: undefined }), { duplicate: "replayed" });
    expect(answer).not.toHaveProperty("editor_changed_since");
  });

  test("the first caller is told nothing of duplicates", () => {
    expect(answerOf(view(record))).not.toHaveProperty("deduplicated");
  });
});

test("an unknown log_id and one whose retention ended are told apart", () => {
  expect(notFound("x", false)).toMatchObject({ status: "not_found", error_code: "NOT_FOUND" });
  expect(notFound("x", false).message).toContain("No operation of yours");
  expect(notFound("x", true).message).toContain("no longer stored");
});
