/** What the Editors did and what callers were told, held against each other. */
import { fingerprintOf } from "../../src/shared/idempotency.js";
import type { Told } from "../harness/process-clients.js";
import { type Began, wrongAnswers } from "../never-twice/answers.js";
import { grouped } from "../never-twice/grouped.js";
import { storeWasLost } from "./events.js";
import { whyInterrupted } from "./interruptions.js";
import { acceptedAt, type Wish } from "./wish.js";
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
    if (all.length <= mostRunsOf(wished)) continue;
    const ids = all.map(({ operationId, editor }) => `${operationId} in ${editor}`).join(", ");
    violations.push({
      what: `a call wished ${wished.length} time(s) was executed ${all.length} times: ${ids}`,
      wish: wished[0],
      others: { wishes: wished.slice(1), operationIds: all.map(({ operationId }) => operationId) },
    });
  }
  return violations;
}

/** What is repeatable may run for each call that was sent for it. */
function mostRunsOf(wished: readonly Wish[]): number {
  if (!wished[0]?.isRepeatable) return wished.length;
  return wished.reduce((sum, { sent }) => sum + sent, 0);
}

/** What each answer by itself is held against: the executions by the Editors' own clocks. */
export function misAnswered(
  world: ChaosWorld,
  wishes: readonly Wish[],
  executions: readonly Execution[],
): Violation[] {
  const plain = new Set(world.editors.filter((editor) => editor.plain).map(({ name }) => name));
  const began = executions.map(({ operationId, editor, fingerprint, at }): Began => {
    return { operationId: plain.has(editor) ? undefined : operationId, call: fingerprint ?? "?", at };
  });
  const options = { storeWasLost: storeWasLost(world.events) };
  return wrongAnswers(world.listener.heard, began, options).map(({ what, heard }) => {
    const logId = heard.told.log_id ?? "";
    return { what, wish: wishes.find(({ logIds }) => logIds.has(logId)) };
  });
}

/** Invariant 6: one at a time on the main lane, by the Editors' own clocks. */
export function overlapping(world: ChaosWorld, wishes: readonly Wish[]): Violation[] {
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
      const tools = [span, before].map(({ operationId }) => world.witness.submitted(operationId)?.tool);
      const earlier = `${before.operationId} had ended, ${before.endedAt - span.startedAt} ms later (${tools})`;
      return [
        {
          what: `${span.operationId} began in ${span.editor} before ${earlier}`,
          wish: wishes.find(({ logIds }) => logIds.has(span.operationId)),
          others: { wishes: [], operationIds: [before.operationId] },
        },
      ];
    });
  });
}

/** Invariant 3: what an Editor was heard to complete, nobody calls unknown, unless its ledger was lost since. */
export function lost(world: ChaosWorld, wishes: readonly Wish[]): Violation[] {
  const wishesOf = grouped(wishes, ({ fingerprint }) => fingerprint);
  return [...world.witness.outcomes()].flatMap(([operationId, { editor, outcome }]) => {
    const fingerprint = world.witness.submitted(operationId)?.fingerprint ?? "?";
    const wished = wishesOf.get(fingerprint) ?? [];
    const wish = wished.find(({ isRepeatable, logIds }) => !isRepeatable || logIds.has(operationId));
    if (!wish || wish.isRead || outcome.status !== "completed") return [];
    if (!wish.isRepeatable && wished.length > 1) return [];
    const unknown = wish.told.find(
      ({ told }) =>
        told.error_code === "OUTCOME_UNKNOWN" && (!wish.isRepeatable || told.log_id === operationId),
    );
    if (!unknown) return [];
    const around = world.events.around(editor, wish.askedAt, unknown.at);
    if (around.some(({ kind }) => kind.startsWith("ledger"))) return [];
    return [{ what: `${editor} completed ${operationId}, and it was told unknown`, wish }];
  });
}

/** Whether what callers were told of a wish is right. */
export function misTold(
  world: ChaosWorld,
  wish: Wish,
  executions: readonly Execution[],
  wishes: readonly Wish[],
): Violation[] {
  const violation = (what: string): Violation => ({ what, wish });
  if (wish.told.length === 0)
    return [violation(`nobody was ever told how it ended (last: ${wish.lastError})`)];
  const violations = wish.told.flatMap(({ at, told }) => {
    const why = unexplained(world, wish, { told, at }, wishes);
    return why === undefined ? [] : [violation(why)];
  });
  // Each run of what is repeatable has an end of its own.
  const runs = grouped(
    wish.told.filter(({ told }) => hasBegun(told)),
    ({ told }) => (wish.isRepeatable ? (told.log_id ?? "") : ""),
  );
  for (const run of runs.values()) {
    const ends = new Set(run.map(({ told }) => endOf(told)));
    if (ends.size > 1 && !mayForget(world, wish))
      violations.push(violation(`it was told ${[...ends].join(" and ")}`));
  }
  const isCompleted = wish.told.some(({ told }) => told.status === "completed");
  const ran = executions.filter(({ fingerprint }) => fingerprint === wish.fingerprint).length;
  if (isCompleted && !wish.isRead && ran === 0)
    violations.push(violation("it was told completed and never ran"));
  return violations;
}

/** Undefined: such an end is in order. */
function unexplained(
  world: ChaosWorld,
  wish: Wish,
  { told, at }: Wish["told"][number],
  wishes: readonly Wish[],
): string | undefined {
  if (told.status === "completed") return undefined;
  if (told.status === "cancelled") {
    const isAsked = wishes.some(
      ({ isCancelAsked, logIds }) => isCancelAsked && logIds.has(told.log_id ?? ""),
    );
    return isAsked || wish.isCancelAsked ? undefined : "it was cancelled, and nobody had asked for that";
  }
  if (told.error_code === "OUTCOME_UNKNOWN") {
    const why = whyInterrupted(world, wish, told, at);
    return why === undefined
      ? `it was interrupted without a reason: ${told.error_type}, ${told.error}`
      : undefined;
  }
  const { events } = world;
  const disk = events
    .around(wish.editor.name, acceptedAt(wish, told), at)
    .some(({ kind }) => kind.includes("disk"));
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
