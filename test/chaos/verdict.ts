/** What the Editors did and what callers were told, held against each other. */
import { fingerprintOf } from "../../src/shared/idempotency.js";
import type { Told } from "../harness/process-clients.js";
import { storeWasLost } from "./events.js";
import { whyInterrupted } from "./interruptions.js";
import type { Wish } from "./wish.js";
import type { ChaosWorld } from "./world.js";

export interface Violation {
  what: string;
  wish: Wish | undefined;
  /** Whose stories belong to it, beside what its callers were told of. */
  others?: { wishes: readonly Wish[]; operationIds: readonly string[] };
}

/** One execution by an Editor's own account. */
export interface Execution {
  operationId: string;
  editor: string;
  /** Undefined: nobody ever saw it being submitted. */
  fingerprint: string | undefined;
  at: number;
}

/** All that ever began. */
export function executionsOf(world: ChaosWorld): Execution[] {
  return world.editors.flatMap((editor) =>
    editor.executions().map(({ operationId, what, at }) => ({
      operationId,
      editor: editor.name,
      // A plain Editor gives its executions names of its own, and runs menu items only.
      fingerprint: editor.plain
        ? fingerprintOf("execute-menu-item", { MenuItemPath: what })
        : world.witness.submitted(operationId)?.fingerprint,
      at,
    })),
  );
}

/** Invariant 1: no operation twice, no call more often than it was wished. */
export function repeated(executions: readonly Execution[], wishes: readonly Wish[]): Violation[] {
  const violations: Violation[] = [];
  const wishesOf = grouped(wishes, ({ fingerprint }) => fingerprint);
  for (const [operationId, all] of grouped(executions, (execution) => execution.operationId)) {
    const wish = wishesOf.get(all[0]?.fingerprint ?? "")?.[0];
    if (all.length > 1) violations.push({ what: `${operationId} was executed ${all.length} times`, wish });
  }
  for (const [fingerprint, all] of grouped(executions, (execution) => execution.fingerprint ?? "?")) {
    const wished = wishesOf.get(fingerprint) ?? [];
    if (all.length <= wished.length) continue;
    const ids = all.map(({ operationId, editor }) => `${operationId} in ${editor}`).join(", ");
    violations.push({
      what: `a call wished ${wished.length} time(s) was executed ${all.length} times: ${ids}`,
      wish: wished[0],
      others: { wishes: wished.slice(1), operationIds: all.map(({ operationId }) => operationId) },
    });
  }
  return violations;
}

/** Invariant 6: one at a time on the main lane, by the Editors' own clocks. */
export function overlapping(world: ChaosWorld): Violation[] {
  const spans = [...world.witness.outcomes()].flatMap(([operationId, { editor, outcome }]) => {
    const { status, startedAt, endedAt } = outcome;
    if (startedAt === undefined || status === "interrupted") return [];
    return [{ operationId, editor, startedAt, endedAt }];
  });
  return [...grouped(spans, ({ editor }) => editor).values()].flatMap((ofEditor) => {
    const inOrder = ofEditor.toSorted((a, b) => a.startedAt - b.startedAt);
    return inOrder.slice(1).flatMap((span, index) => {
      const before = inOrder[index];
      if (!before || span.startedAt >= before.endedAt) return [];
      const what = `${span.operationId} began in ${span.editor} before ${before.operationId} had ended`;
      return [{ what, wish: undefined }];
    });
  });
}

/** Invariant 3: what an Editor was heard to complete, nobody calls unknown, unless its ledger was lost since. */
export function lost(world: ChaosWorld, wishes: readonly Wish[]): Violation[] {
  const wishesOf = grouped(wishes, ({ fingerprint }) => fingerprint);
  return [...world.witness.outcomes()].flatMap(([operationId, { editor, outcome }]) => {
    const fingerprint = world.witness.submitted(operationId)?.fingerprint ?? "?";
    const [wish, ...others] = wishesOf.get(fingerprint) ?? [];
    if (!wish || wish.isRead || others.length > 0 || outcome.status !== "completed") return [];
    const unknown = wish.told.find(({ told }) => told.error_code === "OUTCOME_UNKNOWN");
    if (!unknown) return [];
    const around = world.events.around(editor, wish.askedAt, unknown.at);
    if (around.some(({ kind }) => kind.startsWith("ledger"))) return [];
    return [{ what: `${editor} completed ${operationId}, and it was told unknown`, wish }];
  });
}

/** Whether what callers were told of a wish is right. */
export function misTold(world: ChaosWorld, wish: Wish, executions: readonly Execution[]): Violation[] {
  const violation = (what: string): Violation => ({ what, wish });
  if (wish.told.length === 0)
    return [violation(`nobody was ever told how it ended (last: ${wish.lastError})`)];
  const violations = wish.told.flatMap(({ at, told }) => {
    const why = unexplained(world, wish, told, at);
    return why === undefined ? [] : [violation(why)];
  });
  const ends = new Set(wish.told.filter(({ told }) => hasBegun(told)).map(({ told }) => endOf(told)));
  if (ends.size > 1 && !mayForget(world, wish))
    violations.push(violation(`it was told ${[...ends].join(" and ")}`));
  const isCompleted = wish.told.some(({ told }) => told.status === "completed");
  const ran = executions.filter(({ fingerprint }) => fingerprint === wish.fingerprint).length;
  if (isCompleted && !wish.isRead && ran === 0)
    violations.push(violation("it was told completed and never ran"));
  return violations;
}

/** Undefined: such an end is in order. */
function unexplained(world: ChaosWorld, wish: Wish, told: Told, at: number): string | undefined {
  if (told.status === "completed") return undefined;
  if (told.status === "cancelled")
    return wish.isCancelAsked ? undefined : "it was cancelled, and nobody had asked for that";
  if (told.error_code === "OUTCOME_UNKNOWN") {
    const why = whyInterrupted(world, wish, told, at);
    return why === undefined
      ? `it was interrupted without a reason: ${told.error_type}, ${told.error}`
      : undefined;
  }
  const { events } = world;
  const disk = events.around(wish.editor.name, wish.askedAt, at).some(({ kind }) => kind.includes("disk"));
  if (told.error_code === "EDITOR_REFUSED") {
    if (told.error_type === "ledger_unavailable" && disk) return undefined;
    if (told.error_type === "not_sent" && wish.editor.plain) return undefined;
  }
  return `it ended as ${told.error_code}: ${told.error_type}, ${told.error}`;
}

/** The execution began, as far as anybody knows; the others may be wished again. */
export function hasBegun(told: Told): boolean {
  return (
    told.status === "completed" || told.error_code === "OUTCOME_UNKNOWN" || told.error_code === "TOOL_FAILED"
  );
}

export function endOf({ status, result, error_code }: Told): string {
  return JSON.stringify({ status, result, error_code });
}

/** §8: no ledger and a store that lost something: from then on the outcome is unknown. */
export function mayForget(world: ChaosWorld, wish: Wish): boolean {
  return wish.editor.plain && storeWasLost(world.events, wish.askedAt);
}

function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
