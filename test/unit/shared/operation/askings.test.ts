import { describe, expect, test } from "vitest";
import {
  asked,
  askingOf,
  type Caller,
  delivered,
  givenUp,
  isOwed,
  named,
  type OperationRecord,
  stillOwed,
  undelivered,
} from "../../../../src/shared/operation/operation.js";
import { executed, HTTP, LATER_SESSION, NOW, operation, SINGLE, STDIO, testing } from "../record.js";

/** The record after these changes, each of which must change something. */
const changed = (
  record: OperationRecord,
  ...changes: ((record: OperationRecord) => OperationRecord | undefined)[]
): OperationRecord =>
  changes.reduce((at, change) => {
    const next = change(at);
    expect(next).toBeDefined();
    return next ?? at;
  }, record);

const ask = (caller: Caller) => (record: OperationRecord) => asked(record, caller);
const name = (caller: Caller) => (record: OperationRecord) => named(record, caller);
const reset = (caller: Caller) => (record: OperationRecord) => undelivered(record, caller);
const deliver =
  (caller: Caller, isRead = false, now = NOW) =>
  (record: OperationRecord) =>
    delivered(record, caller, { now, isRead });

describe("owed", () => {
  test("to its creator, and to whoever asked, until each has read it", () => {
    const joined = changed(executed(), ask(LATER_SESSION), deliver(HTTP, true));
    expect(isOwed(joined)).toBe(true);
    expect(isOwed(changed(joined, deliver(LATER_SESSION)))).toBe(true);
    expect(isOwed(changed(joined, deliver(LATER_SESSION), name(LATER_SESSION)))).toBe(false);
  });

  test("a caller that reads settles its earlier askings; asking once more changes nothing", () => {
    const read = changed(executed(), deliver(HTTP, true));
    expect(isOwed(read)).toBe(false);
    expect(asked(read, HTTP)).toBeUndefined();
    expect(delivered(read, HTTP, { now: NOW + 1, isRead: false })).toBeUndefined();
  });

  test("to one that received it without having asked, until it has read it", () => {
    const read = changed(executed(), deliver(HTTP, true));
    expect(isOwed(changed(read, deliver(STDIO)))).toBe(true);
    expect(isOwed(changed(read, deliver(STDIO, true)))).toBe(false);
  });

  test("to requests without a session each by itself", () => {
    const other: Caller = { ...SINGLE, id: "request:2" };
    const both = changed(
      executed({ createdBy: { caller: SINGLE.id, requestId: 1 } }),
      ask(other),
      deliver(other, true),
    );
    expect(isOwed(both)).toBe(true);
    expect(askingOf(both, SINGLE)).toEqual({});
  });

  test("to more callers than a record names: who has read is forgotten first, and a debt never", () => {
    const callers = Array.from(
      { length: 150 },
      (_, at): Caller => ({ id: `caller ${at}`, transport: "http" }),
    );
    const all = callers.reduce((record, caller) => changed(record, deliver(caller, true)), executed());
    const read = changed(all, deliver(HTTP, true));
    expect(isOwed(read)).toBe(false);
    expect(Object.keys(read.askers ?? {}).length).toBeLessThanOrEqual(101);
    const many = callers.reduce((record, caller) => changed(record, ask(caller)), executed());
    const settled = callers
      .slice(-100)
      .reduce((record, caller) => changed(record, deliver(caller, true)), many);
    expect(isOwed(changed(settled, deliver(HTTP, true)))).toBe(true);
  });

  test("a caller that is owed it is still named when as many as a record names have read it since", () => {
    const debt = changed(executed(), ask(LATER_SESSION));
    const readers = Array.from(
      { length: 150 },
      (_, at): Caller => ({ id: `caller ${at}`, transport: "http" }),
    );
    const read = readers.reduce((record, caller) => changed(record, deliver(caller, true)), debt);
    expect(askingOf(read, LATER_SESSION)).toEqual({});
  });

  test("requests without a session, whose callers never come back, are forgotten before one that may", () => {
    const debt = changed(executed(), ask(LATER_SESSION));
    const polls = Array.from({ length: 150 }, (_, at): Caller => ({ ...SINGLE, id: `request:${at + 10}` }));
    const polled = polls.reduce((record, caller) => changed(record, ask(caller)), debt);
    expect(askingOf(polled, LATER_SESSION)).toEqual({});
    expect(isOwed(changed(polled, deliver(LATER_SESSION, true), deliver(HTTP, true)))).toBe(true);
  });
});

describe("delivered", () => {
  test("first at the first delivery, and no later one moves that", () => {
    const twice = changed(executed(), deliver(HTTP), deliver(STDIO, false, NOW + 5));
    expect(twice.firstDeliveredAt).toBe(NOW);
    expect(askingOf(twice, STDIO)).toEqual({ deliveredAt: NOW + 5 });
  });

  test("a slow answer, then a quick one: it is read since then", () => {
    const twice = changed(executed(), deliver(HTTP), deliver(HTTP, true, NOW + 5));
    expect(askingOf(twice, HTTP)).toEqual({ deliveredAt: NOW, hasRead: true });
  });

  test("naming reads what was delivered before, and nothing else", () => {
    expect(named(executed(), HTTP)).toBeUndefined();
    const other = changed(executed(), deliver(STDIO));
    expect(named(other, HTTP)).toBeUndefined();
    expect(askingOf(changed(other, name(STDIO)), STDIO)).toMatchObject({ hasRead: true });
  });

  test("a reset leaves a caller that asked and never got it; the window begins with the others' first delivery", () => {
    const both = changed(executed(), deliver(HTTP, true), deliver(STDIO, false, NOW + 5), reset(HTTP));
    expect(askingOf(both, HTTP)).toEqual({});
    expect(both.firstDeliveredAt).toBe(NOW + 5);
    const nobody = changed(both, reset(STDIO));
    expect(nobody).not.toHaveProperty("firstDeliveredAt");
    expect(undelivered(nobody, STDIO)).toBeUndefined();
  });
});

describe("cancelled on purpose", () => {
  test("only a run of a repeatable tool is remembered by that, and once", () => {
    expect(givenUp(operation(), HTTP)).toBeUndefined();
    const once = changed(testing(), (record) => givenUp(record, HTTP));
    expect(once.givenUpBy).toEqual([HTTP.id]);
    expect(givenUp(once, HTTP)).toBeUndefined();
  });
});

describe("run again while others are owed it", () => {
  const owed = (record: OperationRecord, now = NOW) => stillOwed(record, HTTP, { now, windowMs: 90_000 });

  test("who has not read it is owed what comes after, since it asked or was answered", () => {
    // It may have waited for hours before it began: what counts is when somebody got the outcome.
    const record = changed(
      executed({ acceptedAt: NOW - 7_200_000 }),
      ask(LATER_SESSION),
      deliver(HTTP, true),
      deliver(STDIO),
    );
    const both = { [LATER_SESSION.id]: { askedAt: NOW }, [STDIO.id]: { askedAt: NOW } };
    expect(owed(record)).toEqual(both);
    expect(owed(changed(record, deliver(STDIO, true)))).not.toHaveProperty(STDIO.id);
  });

  test("where nobody has got it yet, from now on", () => {
    const record = executed({ acceptedAt: NOW - 7_200_000, createdBy: { caller: STDIO.id, requestId: 1 } });
    const both = { [LATER_SESSION.id]: { askedAt: NOW }, [STDIO.id]: { askedAt: NOW } };
    expect(owed(changed(record, ask(LATER_SESSION)))).toEqual(both);
  });

  test("its creator too, unless it is the caller itself; a single request as well", () => {
    expect(owed(executed({ createdBy: { caller: STDIO.id, requestId: 1 } }))).toHaveProperty(STDIO.id);
    expect(owed(executed())).toEqual({});
    const single = executed({ createdBy: { caller: SINGLE.id, requestId: 1 } });
    expect(owed(single)).toHaveProperty([SINGLE.id]);
  });

  test("who asks for the new run itself is owed that like any other", () => {
    const record = executed({ askers: { [STDIO.id]: { askedAt: NOW } } });
    expect(changed(record, ask(STDIO)).askers).toEqual({ [STDIO.id]: {} });
  });

  test("for as long as a client may take to come back, over however many runs", () => {
    const record = executed({ acceptedAt: NOW, askers: { late: { askedAt: NOW - 85_000 } } });
    expect(owed(record)).toHaveProperty("late");
    expect(owed(record, NOW + 10_000)).toEqual({});
  });
});
