import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  eventsOf,
  isFinal,
  jobIdOf,
  mayHaveBegun,
  next,
  nextAfter,
  type OperationEvent,
  STATES,
  TRANSITIONS,
} from "../../../../src/shared/operation/operation.js";
import type { Outcome } from "../../../../src/shared/wire/wire.js";
import { executed, operation } from "../record.js";

describe("the table of transitions", () => {
  test("is the diagram that ARCHITECTURE.md draws, edge by edge", () => {
    expect(edgesOfTable().sort()).toEqual(edgesOfDrawing().sort());
  });

  test("begins with queued, from which every state is reached", () => {
    expect(drawing()).toContain("[*] --> queued");
    const reached = new Set<string>(["queued"]);
    for (const from of reached)
      for (const to of Object.values(TRANSITIONS[from as "queued"])) reached.add(to);
    expect([...reached].sort()).toEqual([...STATES].sort());
  });

  test("ends in five states, which nothing leaves", () => {
    expect(STATES.filter(isFinal)).toEqual(["completed", "failed", "cancelled", "interrupted", "expired"]);
  });

  test("an event that comes late or twice has no edge", () => {
    expect(next("completed", "started")).toBeUndefined();
    expect(next("running", "claimed")).toBeUndefined();
    expect(next("dispatched", "claimed")).toBeUndefined();
    expect(next("interrupted", "completed")).toBeUndefined();
  });

  test("what was sent never expires, and what was not sent is never interrupted", () => {
    expect(next("dispatched", "expired")).toBeUndefined();
    expect(next("running", "expired")).toBeUndefined();
    expect(next("queued", "interrupted")).toBeUndefined();
    expect(next("queued", "interrupted")).toBeUndefined();
  });

  test("what runs never goes back into the queue", () => {
    expect(next("running", "returned")).toBeUndefined();
  });
});

describe("several events in one write", () => {
  test("each follows from the one before", () => {
    expect(nextAfter("queued", ["claimed", "started"])).toBe("running");
  });

  test("one event without an edge refuses all of them", () => {
    expect(nextAfter("running", ["returned", "claimed"])).toBeUndefined();
  });
});

describe("how an Editor's outcome enters a record", () => {
  const outcome = (status: Outcome["status"], startedAt?: number): Outcome => ({
    status,
    endedAt: 2,
    ...(startedAt === undefined ? {} : { startedAt }),
  });

  test.each([
    ["completed although its start was never told", outcome("completed", 1), "completed"],
    ["refused before it began", outcome("failed"), "failed"],
    ["interrupted", outcome("interrupted", 1), "interrupted"],
    ["cancelled before it began", outcome("cancelled"), "cancelled"],
    ["cancelled while it ran", outcome("cancelled", 1), "cancelled"],
  ])("%s: it is final at once", (_story, reported, state) => {
    expect(nextAfter("dispatched", eventsOf("dispatched", reported))).toBe(state);
    if (reported.startedAt !== undefined)
      expect(nextAfter("running", eventsOf("running", reported))).toBe(state);
  });

  test("a cancellation before the start goes through the queue, one after it through running", () => {
    expect(eventsOf("dispatched", outcome("cancelled"))).toEqual<OperationEvent[]>(["returned", "cancelled"]);
    expect(eventsOf("dispatched", outcome("cancelled", 1))).toEqual<OperationEvent[]>([
      "started",
      "cancelled",
    ]);
  });
});

describe("names and questions", () => {
  test("▲2 a job is named by the hash and the operation, so that a second operation of the hash has another job", () => {
    const first = jobIdOf(operation({ logId: "op1" }));
    expect(first).toBe("h.op1");
    expect(jobIdOf(operation({ logId: "op2" }))).not.toBe(first);
  });

  test("▲6 an execution began when it was seen running, completed, or its outcome is unknown", () => {
    expect(mayHaveBegun(executed())).toBe(true);
    expect(mayHaveBegun(executed({ state: "failed" }))).toBe(true);
    expect(mayHaveBegun(executed({ state: "cancelled" }))).toBe(true);
    expect(mayHaveBegun(operation({ state: "interrupted" }))).toBe(true);
    expect(mayHaveBegun(operation({ state: "completed" }))).toBe(true);
  });

  test("▲6 refused, expired and cancelled in the queue: it never began", () => {
    for (const state of ["failed", "expired", "cancelled"] as const) {
      expect(mayHaveBegun(operation({ state }))).toBe(false);
    }
  });
});

function edgesOfTable(): string[] {
  return STATES.flatMap((from) =>
    Object.entries(TRANSITIONS[from]).map(([event, to]) => `${from} --> ${to} : ${event}`),
  );
}

function edgesOfDrawing(): string[] {
  return drawing().filter((line) => line.includes("-->") && !line.startsWith("[*]"));
}

/** The lines of the state diagram in ARCHITECTURE.md. */
function drawing(): string[] {
  const text = readFileSync(new URL("../../../../ARCHITECTURE.md", import.meta.url), "utf8");
  const section = text.split("## States")[1] ?? "";
  const block = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
  return block
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
