/** What the Editors did compared with what callers received. */
import { hashesOf } from "../../../../src/shared/operation/decide.js";
import type { CallAnswer } from "../../../harness/processes/process-clients.js";
import { grouped } from "../../engine/grouped.js";
import { wrongAnswers } from "../../engine/judge/answers.js";
import { disagreement, type Execution, misexecuted, type Violation } from "../../engine/judge/executions.js";
import { hasBegun } from "../../engine/outcomes.js";
import { acceptedAt, type ChaosIntent } from "../intent.js";
import type { ChaosWorld } from "../world.js";
import { storeWasLost } from "./events.js";
import { whyInterrupted } from "./interruptions.js";

/** A ledger that its disk refused may be refused this long afterwards: it is tried again by a heartbeat. */
const LEDGER_HEALS_MS = 2_500;

export type ChaosViolation = Violation<ChaosIntent>;

/** Of a whole run, when everything has ended. */
export function verdictOn(world: ChaosWorld, executions: readonly Execution[]): ChaosViolation[] {
  const { intents, listener } = world.account;
  const options = { storeWasLost: storeWasLost(world.events) };
  const wrong = wrongAnswers(listener.heard, executions, options).map(({ what, heard }): ChaosViolation => {
    const logId = heard.reported.log_id ?? "";
    return { what, intent: intents.find(({ logIds }) => logIds.has(logId)) };
  });
  return [
    ...misexecuted(executions, intents.flatMap(timesMeant(world))),
    ...overlapping(world),
    ...lost(world),
    ...intents.flatMap((intent) => misanswered(world, intent, executions)),
    ...wrong,
  ];
}

/** Where the store forgets a call that was never sent, it forgets who had asked: each of two callers then makes a call of its own. */
const timesMeant =
  ({ events }: ChaosWorld) =>
  (intent: ChaosIntent): ChaosIntent[] =>
    intent.isShared && !intent.isRepeatable && storeWasLost(events, intent.askedAt)
      ? [intent, intent]
      : [intent];

/** All that ever began. */
export function executionsOf(world: ChaosWorld): Execution[] {
  return world.editors.flatMap(({ name, plain, executions }) =>
    executions().map(({ operationId: id, what, at }) => {
      const call = plain
        ? // It gives its executions names of its own, and runs menu items only.
          hashesOf({ principal: "", tool: "execute-menu-item", arguments: { MenuItemPath: what } })
            .fingerprint
        : // Else nobody ever saw it being submitted.
          (world.witness.submitted(id)?.fingerprint ?? "?");
      return { id, operationId: plain ? undefined : id, editor: name, call, at };
    }),
  );
}

/** Invariant 6: one at a time on the main lane, by the Editors' own clocks. */
function overlapping(world: ChaosWorld): ChaosViolation[] {
  const { intents } = world.account;
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
          intent: intents.find(({ logIds }) => logIds.has(span.operationId)),
          others: { intents: [], operationIds: [before.operationId] },
        },
      ];
    });
  });
}

/** Invariant 3: what an Editor was heard to complete, nobody calls unknown, unless its ledger was lost since. */
function lost(world: ChaosWorld): ChaosViolation[] {
  const intentsOf = grouped(world.account.intents, ({ label }) => label);
  return [...world.witness.outcomes()].flatMap(([operationId, { editor, outcome }]) => {
    const fingerprint = world.witness.submitted(operationId)?.fingerprint ?? "?";
    const intended = intentsOf.get(fingerprint) ?? [];
    const intent = intended.find(({ isRepeatable, logIds }) => !isRepeatable || logIds.has(operationId));
    if (!intent || intent.isRead || outcome.status !== "completed") return [];
    if (!intent.isRepeatable && intended.length > 1) return [];
    const unknown = intent.outcomes.find(
      ({ reported }) =>
        reported.error_code === "OUTCOME_UNKNOWN" &&
        (!intent.isRepeatable || reported.log_id === operationId),
    );
    if (!unknown) return [];
    const around = world.events.around(editor, intent.askedAt, unknown.at);
    if (around.some(({ kind }) => kind.startsWith("ledger"))) return [];
    return [{ what: `${editor} completed ${operationId}, and callers got an unknown outcome`, intent }];
  });
}

/** Whether what callers were answered for an intent is right. */
function misanswered(
  world: ChaosWorld,
  intent: ChaosIntent,
  executions: readonly Execution[],
): ChaosViolation[] {
  if (intent.outcomes.length === 0)
    return [{ what: `no caller ever received its outcome (last: ${intent.setbacks.at(-1)?.what})`, intent }];
  const disagrees = disagreement(intent, (reported) => (hasBegun(reported) ? endOf(reported) : undefined));
  const isCompleted = intent.outcomes.some(({ reported }) => reported.status === "completed");
  const hasRun = executions.some(({ call }) => call === intent.label);
  return [
    ...intent.outcomes.map((outcome) => unexplained(world, intent, outcome)),
    mayForget(world, intent) ? undefined : disagrees,
    isCompleted && !intent.isRead && !hasRun ? "it was reported completed and never ran" : undefined,
  ].flatMap((what) => (what === undefined ? [] : [{ what, intent }]));
}

/** Undefined: such an end is in order. */
function unexplained(
  world: ChaosWorld,
  intent: ChaosIntent,
  { reported, at }: ChaosIntent["outcomes"][number],
): string | undefined {
  if (reported.status === "completed") return undefined;
  if (reported.status === "cancelled") {
    const isAsked = world.account.intents.some(
      ({ isCancelAsked, logIds }) => isCancelAsked && logIds.has(reported.log_id ?? ""),
    );
    return isAsked || intent.isCancelAsked ? undefined : "it was cancelled, and nobody had asked for that";
  }
  if (reported.error_code === "OUTCOME_UNKNOWN") {
    const why = whyInterrupted(world, intent, reported, at);
    return why === undefined
      ? `it was interrupted without a reason: ${reported.error_type}, ${reported.error}`
      : undefined;
  }
  const { events } = world;
  const disk = events
    .around(intent.editor.name, acceptedAt(intent, reported) - LEDGER_HEALS_MS, at)
    .some(({ kind }) => kind.includes("disk"));
  if (reported.error_code === "EDITOR_REFUSED") {
    if (reported.error_type === "ledger_unavailable" && disk) return undefined;
    if (reported.error_type === "not_sent" && intent.editor.plain) return undefined;
  }
  return `it ended as ${reported.error_code}: ${reported.error_type}, ${reported.error}`;
}

export function endOf({ status, result, error_code }: CallAnswer): string {
  return JSON.stringify({ status, result, error_code });
}

/** §8: no ledger and a store that lost something: from then on the outcome is unknown. */
export function mayForget(world: ChaosWorld, intent: ChaosIntent): boolean {
  return intent.editor.plain && storeWasLost(world.events, intent.askedAt);
}
