import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LedgerState } from "../../../src/shared/wire/wire.js";
import { listPage } from "../../../src/simulator/operation-methods.js";

interface GoldenOperation {
  operationId: string;
  acceptedAt?: number;
  state: LedgerState;
  acknowledged?: boolean;
}

interface GoldenCase {
  name: string;
  limit: number;
  pages: {
    operations: GoldenOperation[];
    cursor?: string;
    ids?: string[];
    nextCursor?: string;
    refused?: boolean;
  }[];
}

const golden = JSON.parse(readFileSync(new URL("../../golden/list.json", import.meta.url), "utf8")) as {
  cases: GoldenCase[];
};

const alike = (): number => 100;

describe("operation/list follows the golden table", () => {
  test.each(golden.cases.map((entry) => [entry.name, entry] as const))("%s", (_name, entry) => {
    for (const { operations, cursor, ids, nextCursor, refused } of entry.pages) {
      const limits = { operations: entry.limit, characters: 100_000 };
      const reported = listPage(operations, cursor, alike, limits);
      if (refused) expect(reported).toBeUndefined();
      else {
        expect(reported?.page.map(({ operationId }) => operationId)).toEqual(ids);
        expect(reported?.nextCursor).toBe(nextCursor);
      }
    }
  });
});

test("a page ends before it is too long, and never before its first operation", () => {
  const operations = ["a", "b", "c", "d"].map(
    (operationId, index): GoldenOperation => ({ operationId, acceptedAt: index, state: "revoked" }),
  );
  const sizes: Record<string, number> = { a: 90, b: 10, c: 101, d: 1 };
  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const reported = listPage(operations, cursor, ({ operationId }) => sizes[operationId] ?? 0, {
      operations: 10,
      characters: 100,
    });
    pages.push(reported?.page.map(({ operationId }) => operationId).join("") ?? "");
    cursor = reported?.nextCursor;
  } while (cursor !== undefined);
  expect(pages).toEqual(["ab", "c", "d"]);
});

test("whatever happens between two pages: what was there from the beginning to the end is reported", () => {
  const states = fc.constantFrom<LedgerState>("accepted", "running", "completed", "not_started", "revoked");
  const operation = fc.record({ acceptedAt: fc.nat(5), state: states, acknowledged: fc.boolean() });
  const change = fc.record({ index: fc.nat(20), to: operation, remove: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 12 }),
      fc.array(change, { maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      (start, changes, limit) => {
        let now: GoldenOperation[] = start.map((each, index) => ({ ...each, operationId: `op-${index}` }));
        const removed = new Set<string>();
        const reported = new Set<string>();
        let cursor: string | undefined;
        do {
          const page = listPage(now, cursor, alike, { operations: limit, characters: 100_000 });
          for (const { operationId } of page?.page ?? []) reported.add(operationId);
          cursor = page?.nextCursor;
          const { index, to, remove } = changes.shift() ?? { index: -1, to: start[0], remove: false };
          const changed = now[index];
          if (!changed || !to) continue;
          // The time of acceptance stays; one that is accepted again moves to the end of the ledger.
          now = now.filter((each) => each !== changed);
          if (remove) removed.add(changed.operationId);
          else now.push({ ...to, operationId: changed.operationId, acceptedAt: changed.acceptedAt ?? 0 });
        } while (cursor !== undefined);
        for (const { operationId } of now) expect(reported).toContain(operationId);
      },
    ),
  );
});
