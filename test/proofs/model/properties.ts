/**
 * What must hold. Judged by what callers intended and read, and by what the Editors began and recorded.
 *
 * An intent is a first call, a deliberate run after the answer was read, or a force_new; every request that is sent for
 * it again belongs to it (docs/proofs/never-twice.md).
 */
import { isFinal, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { isAlwaysRepeatable } from "../../../src/shared/tools/tool.js";
import { effectOf, type Facts } from "./state/facts.js";
import { type Entry, type History, HOUR, now, type Request, type State } from "./state/state.js";

/** What this step did wrong; undefined: nothing. */
export function faultOf(before: State, after: State, facts: Facts): string | undefined {
  if (after.history.fault !== null) return after.history.fault;
  if (after.history.begun !== before.history.begun) return faultOfBeginning(after, facts);
  const isRollback = before.left.rollbacks !== after.left.rollbacks;
  const hasChanged = before.store.records !== after.store.records || before.editors !== after.editors;
  const fault = hasChanged && !isRollback ? faultOfRecords(before, after, facts) : undefined;
  return fault ?? (before.requests === after.requests ? undefined : faultOfJoining(before, after, facts));
}

const numberOf = (logId: string): number => Number(logId.slice(2));

const madeFor = ({ made }: History, logId: string): History["made"][number] | undefined =>
  made[numberOf(logId) - 1];

const entryOf = ({ editors }: State, id: string): Entry | undefined =>
  editors.flatMap(({ ledger }) => ledger.entries).find((entry) => entry.id === id);

function faultOfBeginning(state: State, facts: Facts): string | undefined {
  const { history, caller, store } = state;
  const { isStrict } = facts;
  const begins = history.begun.at(-1);
  if (!begins) return undefined;
  const { id } = begins;
  const earlier = history.begun.slice(0, -1);
  const twice = earlier.find((one) => one.id === id);
  if (twice) return `${id} begins twice${twice.editor === begins.editor ? "" : ", in two Editors"}`;
  const record = store.records[id];
  // A store that went back may have forgotten that it was sent (docs/proofs/model.md, what is not defended).
  const isForgotten = !isStrict && history.storeWentBack && record?.state === "expired";
  if (record && isFinal(record.state) && !isForgotten) return `${id} begins although it is ${record.state}`;
  if (effectOf(facts) === "read_only") return undefined;
  const mine = madeFor(history, id);
  const isFor = (one: { id: string }): boolean =>
    madeFor(history, one.id)?.intent === mine?.intent ||
    history.asked.some(({ id: asked, intent, caller: by }) => {
      const hasRead = history.read.some((each) => each.id === asked && each.caller === by);
      return asked === one.id && intent === mine?.intent && !hasRead;
    });
  const same = earlier.find(isFor);
  if (effectOf(facts) === "repeatable") return faultOfRepeating(state, id, same?.id);
  // ▲6 A caller that received it a whole window ago may mean a new call.
  const isTold = history.reported.some((one) => one.id === same?.id && one.intent === mine?.intent);
  const isLongAgo = same && isTold && (history.toldAt[same.id] ?? mine?.hour ?? 0) < (mine?.hour ?? 0);
  if (same && !isLongAgo) return `${id} executes an intent that ${same.id} has executed`;
  if (history.begun.length > caller.intents.length && !isLongAgo)
    return "there are more executions than intents";
  const last = earlier.at(-1);
  const isForced = mine !== undefined && caller.intents[mine.intent]?.force !== null;
  if (last && !isForced && entryOf(state, last.id)?.state === "interrupted") {
    return `${id} repeats ${last.id}, whose outcome is unknown`;
  }
  return undefined;
}

/** Again: a retry finds the tests that it repeats, if their outcome was not delivered, is young, and nothing else has changed. */
function faultOfRepeating(state: State, id: string, earlier: string | undefined): string | undefined {
  const { history, caller } = state;
  if (earlier === undefined || history.isShaken || earlier in history.toldAt) return undefined;
  // Its user did not want that run any more.
  if (history.escaped.some((one) => one.id === earlier)) return undefined;
  const isChanged = caller.changes > (madeFor(history, earlier)?.changes ?? 0);
  const isOld = state.hour > (madeFor(history, earlier)?.hour ?? 0);
  return isChanged || isOld ? undefined : `${id} executes an intent that ${earlier} has executed`;
}

/**
 * What is wrong with this answer to a call, without key or force_new: a told outcome of a repeatable tool is never told
 * again to a later call, nor one from before what its caller had changed; and what is not said to be a duplicate was
 * executed after its call was accepted.
 */
export function faultOfAnswer(
  state: State,
  request: Request,
  id: string,
  isDuplicate: boolean,
  facts: Facts,
): string | undefined {
  const { history, caller } = state;
  const begun = history.begun.findIndex((one) => one.id === id);
  if (begun < 0) return undefined;
  const made = madeFor(history, request.logId ?? "");
  if (!isDuplicate && made && begun < made.begun)
    return `#${request.id} gets ${id} as if it had been executed for it`;
  if (request.target !== null && history.begun[begun]?.editor !== request.target)
    return `#${request.id}, which names ${request.target}, gets what another Editor did`;
  if (effectOf(facts) !== "repeatable" || request.names !== null) return undefined;
  const reported = history.reported.find(
    (one) => one.id === id && one.request !== request.id && one.lastId < request.id,
  );
  if (reported) return `#${request.id} gets ${id}, which #${reported.request} got before it was sent`;
  const intent = caller.intents[request.intent];
  // ▲5 Another session joins what is in flight, whatever this one has changed.
  const isJoined = request.relation === "joined" && caller.session > 1;
  if (intent && !isJoined && (history.begun[begun]?.changes ?? 0) < intent.changes)
    return `#${request.id} gets ${id}, which is older than what its caller has changed`;
  return undefined;
}

function faultOfRecords(before: State, after: State, facts: Facts): string | undefined {
  for (const [logId, record] of Object.entries(after.store.records)) {
    const earlier = before.store.records[logId];
    if (earlier && isFinal(earlier.state) && isChanged(earlier, record)) {
      return `${logId} was ${earlier.state}, and is now ${record.state}`;
    }
    if (!isFinal(record.state)) continue;
    const fault = faultOfVerdict(after, record, facts);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const isChanged = (a: OperationRecord, b: OperationRecord): boolean =>
  a.state !== b.state || a.executedAs !== b.executedAs || a.endedAt !== b.endedAt;

function faultOfVerdict(state: State, record: OperationRecord, { isStrict }: Facts): string | undefined {
  const { history } = state;
  const { logId, executedAs, supersedes } = record;
  const id = executedAs ?? logId;
  const isRun = history.begun.some((one) => one.id === id);
  const isCalledUnbegun =
    record.state === "expired" || (record.state === "failed" && record.startedAt === undefined);
  if (isCalledUnbegun && isRun && (isStrict || !history.storeWentBack))
    return `${logId} is called never started, and it ran`;
  if (supersedes !== undefined && executedAs === supersedes)
    return `${logId} takes the outcome of what it supersedes`;
  // One that a newer one of the same call has overtaken is answered as that one.
  const isOlder = executedAs !== undefined && numberOf(executedAs) < numberOf(logId);
  const isOthers = isOlder && madeFor(history, executedAs)?.intent !== madeFor(history, logId)?.intent;
  if (isOthers && !history.storeWentBack)
    return `${logId} takes the outcome of ${executedAs}, which was another intent`;
  const reported = entryOf(state, id)?.outcome;
  if (!reported || history.ledgerWentBack || reported.error || isCalledUnbegun) return undefined;
  return reported.status === record.state
    ? undefined
    : `${logId} is ${record.state}, but the Editor has ${reported.status}`;
}

/** ▲5 A call never joins what was accepted before the last change that its caller has seen. */
function faultOfJoining(before: State, after: State, { tool }: Facts): string | undefined {
  for (const request of after.requests) {
    const record = request.logId === undefined ? undefined : before.store.records[request.logId];
    const isHere = ({ id, isDouble, at }: Request): boolean =>
      id === request.id && isDouble === request.isDouble && at === "waiting";
    const isNew = isHere(request) && !before.requests.some(isHere);
    const fault = record && isNew ? faultOfFinding(before, request, record) : undefined;
    if (fault !== undefined) return fault;
    if (!record || !isNew || isFinal(record.state)) continue;
    const intent = after.caller.intents[request.intent];
    // Tests and compilations look at what this very session has changed.
    const own = before.store.own[request.caller] ?? 0;
    const seen = Math.min(intent?.mutations ?? 0, isAlwaysRepeatable(tool) ? own : Number.POSITIVE_INFINITY);
    if (intent && record.mutationSeq < seen)
      return `#${request.id} joins ${record.logId}, which is too old for it`;
  }
  return undefined;
}

/** Again: whom the gateway answers by an operation that it found. */
function faultOfFinding(
  { history, hour }: State,
  { id: number, caller, intent, relation, names }: Request,
  { logId, effect, state, endedAt = 0 }: OperationRecord,
): string | undefined {
  const isOf = (one: { id: string; caller: string }): boolean => one.id === logId && one.caller === caller;
  if (relation !== "joined" && relation !== "replayed") return undefined;
  if (effect === "repeatable" && history.escaped.some(isOf))
    return `#${number} gets ${logId}, which its user has cancelled`;
  if (relation !== "replayed" || names !== null || state === "interrupted" || history.storeWentBack)
    return undefined;
  if (effect === "repeatable")
    return now({ hour }) - endedAt >= HOUR ? `#${number} gets ${logId}, which is too old` : undefined;
  if (history.read.some(isOf)) return `#${number} gets ${logId}, which its caller has read`;
  // Who has asked before, for the same, comes back for what it was not given.
  if (history.asked.some((one) => one.intent === intent && one.caller === caller)) return undefined;
  const askers = history.asked.filter(({ id }) => id === logId).map((one) => one.caller);
  const hasRead = (asker: string): boolean =>
    history.read.some((one) => one.id === logId && one.caller === asker);
  return askers.every(hasRead) ? `#${number} gets ${logId}, which is owed to nobody` : undefined;
}

/** What is wrong when nothing goes on by itself any more. */
export function faultAtRest(state: State): string | undefined {
  const { store, history } = state;
  for (const { logId, state: left } of Object.values(store.records)) {
    if (!isFinal(left)) return `everything has come to rest, and ${logId} stays ${left}`;
  }
  if (history.storeWentBack && history.ledgerWentBack) return undefined;
  const [waiting] = state.requests;
  if (waiting) return `everything has come to rest, and #${waiting.id} is not answered`;
  for (const { id } of history.begun) {
    const entry = entryOf(state, id);
    if (entry?.state !== "completed") continue;
    const isReadable = store.records[id] ? store.results[id] === id : !entry.outcome?.error;
    if (!isReadable) return `everything has come to rest, and the outcome of ${id} is lost`;
  }
  return undefined;
}
