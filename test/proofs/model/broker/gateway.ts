/** The gateway's steps: the verb submit (src/gateway/submit.ts); how it answers is in answers.ts. */

import { newRecord } from "../../../../src/gateway/submit.js";
import type { Target } from "../../../../src/shared/editors/target.js";
import { REPLAY_DEFAULTS } from "../../../../src/shared/operation/again.js";
import {
  type Decision,
  decide,
  type Snapshot,
  type SubmitRequest,
} from "../../../../src/shared/operation/decide.js";
import {
  askingOf,
  isFinal,
  mayHaveBegun,
  type OperationRecord,
} from "../../../../src/shared/operation/operation.js";
import { nameOf } from "../caller.js";
import type { Offer } from "../offer.js";
import { type Facts, TOOLS } from "../state/facts.js";
import {
  HASH,
  LABELS,
  now,
  type Plan,
  POOL,
  type Request,
  replaced,
  type State,
  type StoreState,
  without,
} from "../state/state.js";
import type { Rules } from "../switches.js";
import { answers, cancels, notes, takesBack, writesNoted } from "./answers.js";
import { asked as askedFor, callerOf, named } from "./deliveries.js";
import { sweeps } from "./janitor.js";
import { lossesOf } from "./pools.js";
import { created, jobAdded, joined, snapshotOf } from "./store.js";

export function gatewaySteps(state: State, facts: Facts, rules: Rules, offer: Offer): void {
  for (const request of state.requests) {
    if (request.at === "network") arrives(state, request, facts, rules, offer);
    else if (request.at === "creating") creates(state, request, facts, rules, offer);
    else if (request.at === "waiting") answers(state, request, facts, rules, offer);
    else if (request.at === "telling") writesNoted(state, request, facts, rules, offer);
    else if (request.at === "reset") takesBack(state, request, rules, offer);
    else notes(state, request, facts, rules, offer);
  }
  sweeps(state, rules, offer);
}

const to = (state: State, request: Request, by: Request): Pick<State, "requests"> => ({
  requests: replaced(state.requests, request, by),
});

/**
 * What has been written is noted before the next message is handled (`noted` in src/gateway/exchange.ts). Over stdio a message
 * is handled when those before it have been accepted.
 */
function waitsItsTurn({ requests }: State, request: Request, { way }: Facts): boolean {
  return requests.some((one) => {
    if (one === request) return false;
    if (one.at === "noting" || one.at === "reset") return true;
    if (way !== "stdio" || one.caller !== request.caller) return false;
    return one.at === "network" ? one.id < request.id : one.at === "creating";
  });
}

/** The client of an HTTP request has closed its connection; a proxy closes that of the copy once the other is answered. */
function isHungUp({ requests }: State, request: Request, { way }: Facts, { off }: Rules): boolean {
  if (request.open || way === "stdio" || request.asks === "cancel" || off === "hungUpBegins") return false;
  return !(request.isDouble && requests.some((one) => one.id === request.id && !one.isDouble && one.open));
}

function arrives(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  if (waitsItsTurn(state, request, facts)) return;
  if (request.asks === "cancel") {
    cancels(state, request, facts, rules, offer);
    return;
  }
  if (isHungUp(state, request, facts, rules) || request.isDropped) {
    offer("part", `${nameOf(request)} arrives, and nobody waits for it`, {
      requests: without(state.requests, request),
    });
    return;
  }
  const store = named(state.store, request, rules);
  const history = readBy(state, request);
  if (request.asks === "name") {
    const logId = request.names ?? "";
    const asks = to(state, request, { ...request, at: "waiting", logId, relation: "read" });
    offer("part", `${nameOf(request)} arrives and names ${logId}`, {
      store: askedFor(store, logId, request, rules),
      history,
      ...asks,
    });
    return;
  }
  const decision = decideOn({ ...state, store }, request, facts, rules);
  // It waits for the Editors that are missing since a loss.
  if (decision.kind === "refuse" && decision.problem.code === "EDITORS_NOT_BACK") return;
  const says = `${nameOf(request)} arrives`;
  if (decision.kind === "refuse") refuses(state, store, request, decision, rules, offer);
  else if (decision.kind === "create") {
    const { kind: _kind, ...links } = decision;
    // Deciding comes behind what the arrival has written.
    const version = state.version + (store.records === state.store.records ? 0 : 1);
    const plan: Plan = { version, incarnation: store.incarnation, ...links };
    offer("part", `${says}; the gateway decides to create an operation after ${plan.after ?? "none"}`, {
      store,
      history,
      ...to(state, request, { ...request, at: "creating", plan }),
    });
  } else {
    const { logId, state: found } = decision.record;
    const verb = decision.kind === "join" ? "joins" : "is answered by";
    const relation = decision.kind === "join" ? "joined" : "replayed";
    const asked = askedFor(store, logId, request, rules);
    offer("part", `${says} and ${verb} ${logId} (${found})`, {
      history: { ...history, asked: [...history.asked, askerIn(logId, request)] },
      store: decision.kind === "join" ? joined(asked, decision.record, request.caller) : asked,
      ...to(state, request, { ...request, at: "waiting", logId, relation }),
    });
  }
}

const askerIn = (id: string, { caller, intent }: Request) => ({ id, caller, intent });

/** The judge's own note of what naming a log_id says. */
function readBy({ store, history }: State, { names, caller }: Request): State["history"] {
  const id = (names !== null && store.records[names]?.executedAs) || names;
  const asking = id === null ? undefined : store.records[id]?.askers?.[caller];
  if (id === null || asking?.deliveredAt === undefined) return history;
  return { ...history, read: [...history.read, { id, caller }] };
}

/** ▲8 The refusal shows the newest operation as a replay does. Without it a client obeys blindly. */
function refuses(
  state: State,
  store: StoreState,
  request: Request,
  { problem }: Extract<Decision, { kind: "refuse" }>,
  rules: Rules,
  offer: Offer,
): void {
  const says = `${nameOf(request)} arrives and is refused (${problem.code})`;
  const gone = { store, requests: without(state.requests, request) };
  if (problem.code !== "FORCE_NEW_MISMATCH") {
    offer("part", says, gone);
    return;
  }
  const { newest } = problem;
  const isOpen = newest && !isFinal(newest.state);
  const isShown = newest && mayHaveBegun(newest) && !isOpen && rules.off !== "refusalShowsNothing";
  if (isShown) {
    const { logId } = newest;
    const shown = to(state, request, { ...request, at: "waiting", logId, relation: "replayed" });
    offer("part", `${says}, which shows ${logId}`, { store, ...shown });
    return;
  }
  // It says what to pass now, and the client does.
  const { caller } = state;
  const use = newest && !isOpen ? newest.logId : null;
  const intents = caller.intents.map((intent, index) =>
    index === request.intent ? { ...intent, force: use } : intent,
  );
  offer("part", `${says}, and says to use ${use ?? "nothing"}`, {
    ...gone,
    ...(request.open ? { caller: { ...caller, intents } } : {}),
  });
}

function decideOn(state: State, request: Request, facts: Facts, rules: Rules): Decision {
  const snapshot = snapshotOf(state, state.store, request);
  const named = request.names === null ? undefined : state.store.records[request.names];
  const asked: SubmitRequest = {
    caller: callerOf(request, rules),
    fingerprint: "f",
    hash: HASH,
    target: facts.isPool ? { kind: "pool", pool: POOL } : targetOf(state, request, rules),
    targetContext: {
      candidates: state.editors.filter(facts.isPool ? isKnown : isMeant).map(candidateOf),
      missing: facts.isPool ? lossesOf(state).missing : [],
    },
    keyed: false,
    isChange: true,
    forceNew: request.names ?? undefined,
    forceNewHash: named?.hash,
  };
  const all = (change: (record: OperationRecord) => OperationRecord): Snapshot => ({
    ...snapshot,
    records: snapshot.records.map(change),
  });
  switch (rules.off) {
    case "noForcedIdentity":
      return decide({ ...snapshot, forced: undefined }, asked);
    case "alwaysJoins":
      return decide(all(upToDate(state.store)), asked);
    case "interruptedMayRepeat":
      return decide(all(asFailed), asked);
    case "windowFromTheEnd":
      return decide(all(asDelivered), asked);
    case "repeatableReplaysDelivered":
      return decide(all(asUntold), asked);
    case "marksIgnored":
      return decide(all(standingStill(snapshot)), asked);
    case "restoredAnswers":
      return decide(all(asNotRestored(state.store)), asked);
    case "newestOfAllOnly":
      return decide(newestOnly(snapshot), asked);
    case "anyEditorsRunAnswers":
      return decide(snapshot, { ...asked, target: { kind: "open" } });
    case "askersForgotten":
      return decide(all(asThoughItNeverAsked(asked.caller.id)), asked);
    case "cancelledIsJoined":
      return decide(all(asNotGivenUp), asked);
    case "undeliveredNeverAges":
      return decide(snapshot, asked, { ...REPLAY_DEFAULTS, undeliveredMs: Number.POSITIVE_INFINITY });
    case "debtsEnd": {
      const decision = decide(snapshot, asked);
      return decision.kind === "create" ? { ...decision, askers: {} } : decision;
    }
    case "readersAreReplayed":
      return decide(all(asUnreadBy(asked.caller.id)), asked);
    case "owedToNobodyAnswers":
      return decide(all(asOwed), asked);
    default:
      return decide(snapshot, asked);
  }
}

/** An open call goes to the first Editor that is there, as if the session had selected it. */
const isMeant = ({ session, up }: State["editors"][number], at: number, all: State["editors"]): boolean => {
  const first = all.findIndex((one) => one.up);
  return first < 0 ? session > 0 && at === 0 : up && at === first;
};

const isKnown = ({ session }: State["editors"][number]): boolean => session > 0;

const candidateOf = ({ id, up }: State["editors"][number]) => ({
  id,
  projectName: id,
  projectPath: `/projects/${id}`,
  connected: up,
  labels: LABELS,
});

const upToDate =
  ({ mutations }: StoreState) =>
  (record: OperationRecord): OperationRecord => ({ ...record, mutationSeq: mutations });
const asFailed = (record: OperationRecord): OperationRecord =>
  record.state === "interrupted" ? { ...record, state: "failed", startedAt: record.endedAt ?? 0 } : record;
const asDelivered = (record: OperationRecord): OperationRecord =>
  record.endedAt === undefined ? record : { ...record, firstDeliveredAt: record.endedAt };
function asUntold({ firstDeliveredAt: _told, ...record }: OperationRecord): OperationRecord {
  return record;
}
function asNotGivenUp({ givenUpBy: _given, ...record }: OperationRecord): OperationRecord {
  return record;
}
const asUnreadBy =
  (caller: string) =>
  (record: OperationRecord): OperationRecord => {
    const { hasRead: _read, ...asking } = record.askers?.[caller] ?? {};
    return { ...record, askers: { ...record.askers, [caller]: asking } };
  };
const asOwed = (record: OperationRecord): OperationRecord => ({
  ...record,
  askers: { ...record.askers, "somebody who never asked": {} },
});
const standingStill =
  ({ editors }: Snapshot) =>
  (record: OperationRecord): OperationRecord => {
    const mark = editors.find(({ id }) => id === record.editor)?.mark;
    return mark && record.editorMark ? { ...record, editorMark: mark } : record;
  };
const asNotRestored =
  ({ incarnation, mutations }: StoreState) =>
  ({ rebuilt: _restored, ...record }: OperationRecord): OperationRecord => ({
    ...record,
    incarnation,
    mutationSeq: mutations,
  });
const newestOnly = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  records: snapshot.records.toSorted((a, b) => b.order - a.order).slice(0, 1),
});
/** It counts as one that has received the outcome. */
const asThoughItNeverAsked =
  (caller: string) =>
  (record: OperationRecord): OperationRecord => {
    const deliveredAt = record.firstDeliveredAt;
    return deliveredAt === undefined || !askingOf(record, { id: caller })
      ? record
      : { ...record, askers: { ...record.askers, [caller]: { deliveredAt } } };
  };

function targetOf(state: State, { target }: Request, { off }: Rules): Target {
  if (target !== null) return { kind: "named", editor: target };
  const here = state.editors.filter(({ up }) => up);
  const [only] = here;
  if (off === "targetFirst" && only && here.length === 1) return { kind: "named", editor: only.id };
  return { kind: "open" };
}

function creates(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const { plan, ...asked } = request;
  const { store, history } = state;
  if (!plan) return;
  if (plan.version !== state.version || plan.incarnation !== store.incarnation) {
    const again: Request = { ...asked, at: "network" };
    offer("part", `${nameOf(request)}: the hash has changed; decides again`, to(state, request, again));
    return;
  }
  const logId = `op${history.made.length + 1}`;
  const record = recordOf(request, plan, { state, facts, rules }, logId);
  const made = {
    intent: request.intent,
    hour: state.hour,
    begun: history.begun.length,
    changes: state.caller.changes,
  };
  const written = { ...state, store: created(store, record) };
  // The job is written in the same step; where an id is used again, a job that stands in its way makes that do nothing.
  const says = `the gateway writes ${logId}${after(record)}, with its job`;
  const changes = {
    store: jobAdded(written, record, rules) || written.store,
    history: {
      ...history,
      made: [...history.made, made],
      asked: [...history.asked, askerIn(logId, request)],
    },
    ...to(state, request, { ...asked, at: "waiting", logId, relation: "created" }),
  };
  offer("part", says, changes);
}

const after = ({ after: before, supersedes, editor }: OperationRecord): string =>
  ` for ${editor} (after ${before ?? "none"}${supersedes === undefined ? "" : `, superseding ${supersedes}`})`;

function recordOf(
  request: Request,
  plan: Plan,
  { state, facts, rules }: { state: State; facts: Facts; rules: Rules },
  logId: string,
): OperationRecord {
  const { version: _version, incarnation, ...links } = plan;
  const call = {
    caller: callerOf(request, rules),
    requestId: request.id,
    principal: "local",
    tool: TOOLS[facts.tool],
    hash: HASH,
    fingerprint: "f",
    parameters: {},
  } as unknown as Parameters<typeof newRecord>[0];
  // Its place in the chain and when it entered, the script counts (store.ts).
  const chain = { version: "0", now: now(state), incarnation } as Parameters<typeof newRecord>[2];
  return newRecord(call, { kind: "create", ...links }, chain, logId, {
    executionClass: "quick",
    maxExecutionMs: undefined,
    replayWindowMs: REPLAY_DEFAULTS.replayWindowMs,
  });
}
