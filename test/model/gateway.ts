/** The gateway's steps: the verb submit (src/gateway/submit.ts), answering, what was delivered, and the sweeper. */
import { newRecord } from "../../src/gateway/new-record.js";
import { queued } from "../../src/gateway/sweeper.js";
import { decide, type SubmitRequest } from "../../src/shared/decide.js";
import { expiryOf, WAIT_LIMITS } from "../../src/shared/expiry.js";
import { type Delivery, hasBegun, isFinal, next, type OperationRecord } from "../../src/shared/operation.js";
import type { Candidate, Target } from "../../src/shared/target.js";
import { spend } from "./bounds.js";
import { nameOf } from "./caller.js";
import { type Facts, TOOLS } from "./facts.js";
import type { Offer } from "./offer.js";
import {
  HASH,
  now,
  type Plan,
  type Request,
  replaced,
  type State,
  type StoreState,
  without,
} from "./state.js";
import { changed, created, hasJob, jobAdded, openRecords, snapshotOf } from "./store.js";
import type { Rules } from "./switches.js";

const CALLER = { id: "caller", transport: "http" as const };
/** Newer than any request that there is. */
const NEWEST = 1_000_000;

export function gatewaySteps(state: State, facts: Facts, rules: Rules, offer: Offer): void {
  for (const request of state.requests) {
    if (request.at === "network") arrives(state, request, facts, rules, offer);
    else if (request.at === "creating") creates(state, request, facts, offer);
    else if (request.at === "enqueuing") enqueues(state, request, rules, offer);
    else if (request.at === "waiting") answers(state, request, offer);
    else notes(state, request, offer);
  }
  sweeps(state, rules, offer);
}

const to = (state: State, request: Request, by: Request): Pick<State, "requests"> => ({
  requests: replaced(state.requests, request, by),
});

function arrives(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const store = confirmed(state.store, request, rules);
  if (request.asks === "name") {
    const requests = without(state.requests, request);
    offer("part", `${nameOf(request)} arrives and confirms ${request.names}`, { store, requests });
    return;
  }
  const decision = decideOn({ ...state, store }, request, facts, rules);
  const says = `${nameOf(request)} arrives`;
  if (decision.kind === "refuse") {
    const requests = without(state.requests, request);
    offer("part", `${says} and is refused (${decision.problem.code})`, { store, requests });
  } else if (decision.kind === "create") {
    const { kind: _kind, ...links } = decision;
    // Deciding comes behind what the arrival has written.
    const version = state.version + (store.records === state.store.records ? 0 : 1);
    const plan: Plan = { version, ...links };
    offer("part", `${says}; the gateway decides to create an operation after ${plan.after ?? "none"}`, {
      store,
      ...to(state, request, { ...request, at: "creating", plan }),
    });
  } else {
    const { logId, state: found } = decision.record;
    const at = decision.kind === "join" && found === "accepted" ? "enqueuing" : "waiting";
    const verb = decision.kind === "join" ? "joins" : "is answered by";
    offer("part", `${says} and ${verb} ${logId} (${found})`, {
      store,
      ...to(state, request, { ...request, at, logId }),
    });
  }
}

function decideOn(state: State, request: Request, facts: Facts, rules: Rules): ReturnType<typeof decide> {
  const known = state.editors.filter(({ session }) => session > 0).map(({ id }) => id);
  const snapshot = snapshotOf(state.store, request, known, now(state));
  const named = request.names === null ? undefined : state.store.records[request.names];
  const asked: SubmitRequest = {
    caller: CALLER,
    requestId: request.id,
    tool: "build",
    effect: facts.effect,
    fingerprint: "f",
    hash: HASH,
    target: targetOf(state, request, rules),
    around: { candidates: candidatesOf(state) },
    keyed: false,
    forceNew: request.names ?? undefined,
    forceNewHash: named?.hash,
  };
  switch (rules.off) {
    case "olderRequestsCount":
      return decide(snapshot, { ...asked, requestId: NEWEST });
    case "noForcedIdentity":
      return decide({ ...snapshot, forced: undefined }, asked);
    case "alwaysJoins":
      return decide({ ...snapshot, records: snapshot.records.map(upToDate(state.store)) }, asked);
    case "interruptedMayRepeat":
      return decide({ ...snapshot, records: snapshot.records.map(asFailed) }, asked);
    case "windowFromTheEnd":
      return decide({ ...snapshot, records: snapshot.records.map(asDelivered) }, asked);
    default:
      return decide(snapshot, asked);
  }
}

const upToDate =
  ({ mutations }: StoreState) =>
  (record: OperationRecord): OperationRecord => ({ ...record, mutationSeq: mutations });
const asFailed = (record: OperationRecord): OperationRecord =>
  record.state === "interrupted" ? { ...record, state: "failed", startedAt: record.endedAt ?? 0 } : record;
const asDelivered = (record: OperationRecord): OperationRecord =>
  record.endedAt === undefined ? record : { ...record, firstDeliveredAt: record.endedAt };

function candidatesOf({ editors }: State): Candidate[] {
  const known = editors.filter(({ session }) => session > 0);
  return known.map(({ id, up }) => ({ id, projectName: id, projectPath: "", connected: up }));
}

function targetOf(state: State, { target }: Request, { off }: Rules): Target {
  if (target !== null) return { kind: "named", editor: target };
  const here = state.editors.filter(({ up }) => up);
  const [only] = here;
  if (off === "targetFirst" && only && here.length === 1) return { kind: "named", editor: only.id };
  return { kind: "open" };
}

/** ▲7 Naming a log_id confirms what this caller was told of it. */
function confirmed(store: StoreState, request: Request, { off }: Rules): StoreState {
  const named = off === "anyMessageConfirms" ? Object.keys(store.records) : [request.names ?? ""];
  return named.reduce((at, logId) => {
    const change = changed(at, logId, (record) => {
      const delivery = record.deliveries[CALLER.id];
      if (!delivery) return undefined;
      const requestId = Math.max(Number(delivery.requestId), request.id);
      const by = off === "anyMessageConfirms" ? delivery.requestId : requestId;
      if (delivery.confirmed && delivery.requestId === by) return undefined;
      return { record: withDelivery(record, { ...delivery, requestId: by, confirmed: true }) };
    });
    return change.store;
  }, store);
}

const withDelivery = (record: OperationRecord, delivery: Delivery): OperationRecord => ({
  ...record,
  deliveries: { [CALLER.id]: delivery },
});

function creates(state: State, request: Request, facts: Facts, offer: Offer): void {
  const { plan, ...asked } = request;
  const { store, history } = state;
  if (!plan) return;
  if (plan.version !== state.version) {
    const again: Request = { ...asked, at: "network" };
    offer("part", `${nameOf(request)}: the hash has changed; decides again`, to(state, request, again));
    return;
  }
  const logId = `op${history.made.length + 1}`;
  const record = recordOf(state, request, plan, facts, logId);
  offer("part", `the gateway writes ${logId}${after(record)}`, {
    store: created(store, record),
    history: { ...history, made: [...history.made, { wish: request.wish, hour: state.hour }] },
    ...to(state, request, { ...asked, at: "enqueuing", logId }),
  });
}

const after = ({ after: before, supersedes, editor }: OperationRecord): string =>
  ` for ${editor} (after ${before ?? "none"}${supersedes === undefined ? "" : `, superseding ${supersedes}`})`;

function recordOf(state: State, request: Request, plan: Plan, facts: Facts, logId: string): OperationRecord {
  const { version: _version, ...links } = plan;
  const call = {
    requester: { caller: CALLER, requestId: request.id },
    principal: "local",
    tool: TOOLS[facts.effect],
    hash: HASH,
    fingerprint: "f",
    parameters: {},
  } as unknown as Parameters<typeof newRecord>[0];
  // Its place in the chain: any number that grows.
  const chain = { version: logId.slice(2), now: now(state) } as Parameters<typeof newRecord>[2];
  return newRecord(call, { kind: "create", ...links }, chain, logId, "quick");
}

function enqueues(state: State, request: Request, rules: Rules, offer: Offer): void {
  const logId = request.logId ?? "";
  const record = state.store.records[logId];
  const waits = to(state, request, { ...request, at: "waiting" });
  const store = record && jobAdded(state, record, rules);
  if (!store) offer("part", `the gateway cannot add the job of ${logId}`, waits);
  else
    offer("part", `the gateway adds the job of ${logId}`, {
      store: changed(store, logId, queued).store,
      ...waits,
    });
}

function answers(state: State, request: Request, offer: Offer): void {
  const { store, requests, caller, history } = state;
  const logId = request.logId ?? "";
  const record = store.records[logId];
  const name = nameOf(request);
  if (!record) {
    offer("part", `${name} is told that ${logId} is not known`, { requests: without(requests, request) });
    return;
  }
  if (!isFinal(record.state)) return;
  if (!request.open) {
    offer("part", `the gateway sees that nobody waits for ${name}`, { requests: without(requests, request) });
    if (state.left.deadAnswers === 0) return;
    offer("fault", `the gateway answers ${name} into a connection that nobody reads`, {
      ...to(state, request, { ...request, at: "noting" }),
      left: spend(state.left, "deadAnswers"),
    });
    return;
  }
  const id = record.executedAs ?? logId;
  const reply = { request: request.id, wish: request.wish, logId, isNothing: !hasBegun(record) };
  const toldAt = { ...history.toldAt, [id]: history.toldAt[id] ?? state.hour };
  offer("part", `the gateway answers ${name}: ${logId} is ${record.state}`, {
    ...to(state, request, { ...request, at: "noting", open: false }),
    caller: { ...caller, replies: [...caller.replies, reply] },
    history: { ...history, toldAt },
  });
}

/** What src/gateway/deliveries.ts writes after an answer was written. */
function notes(state: State, request: Request, offer: Offer): void {
  const logId = request.logId ?? "";
  const change = changed(state.store, logId, (record) => {
    const before = record.deliveries[CALLER.id];
    const requestId = Math.max(Number(before?.requestId ?? 0), request.id);
    const isConfirmed = before?.confirmed ?? false;
    const delivery = { requestId, at: now(state), tookMs: 60_000, confirmed: isConfirmed };
    return {
      record: {
        ...withDelivery(record, delivery),
        firstDeliveredAt: record.firstDeliveredAt ?? now(state),
      },
    };
  });
  const requests = without(state.requests, request);
  offer("part", `the gateway notes that ${nameOf(request)} was answered`, { store: change.store, requests });
}

/** src/gateway/sweeper.ts: lost jobs are added again, and what waited too long for its Editor expires. */
function sweeps(state: State, rules: Rules, offer: Offer): void {
  for (const editor of state.editors) {
    const isHere = editor.up && state.workers.some((one) => one.editor === editor.id && one.link);
    for (const record of openRecords(state.store, editor.id)) {
      const { logId } = record;
      if (record.state !== "accepted" && record.state !== "queued") continue;
      if (!hasJob(state, logId)) restoresJob(state, record, rules, offer);
      if (isHere || state.left.expiries === 0) continue;
      const at = record.acceptedAt + WAIT_LIMITS.absentMs;
      const event = expiryOf(record, record.acceptedAt, at, WAIT_LIMITS);
      const after = event && next(record.state, event);
      if (!after) continue;
      const error = { code: "EXPIRED", type: "expired", message: "" };
      const end = changed(state.store, logId, (latest) => ({
        record: { ...latest, state: after, endedAt: now(state), error },
      }));
      const isHeld = rules.off === "jobIdsReused";
      const jobs = isHeld ? end.store.jobs : end.store.jobs.filter((job) => job.logId !== logId);
      offer("fault", `the Editor is away for long: ${logId} expires, as never sent`, {
        store: { ...end.store, jobs },
        left: spend(state.left, "expiries"),
      });
    }
  }
}

function restoresJob(state: State, record: OperationRecord, rules: Rules, offer: Offer): void {
  const store = jobAdded(state, record, rules);
  if (!store) return;
  const change = changed(store, record.logId, queued);
  offer("part", `the sweeper adds the job of ${record.logId}`, { store: change.store });
}
