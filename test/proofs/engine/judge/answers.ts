/**
 * Every answer of a run, held against what the Editors executed: an outcome is reported as new to the call alone that it
 * was executed for, and one of a repeatable tool that was delivered answers no later call. It believes no record of
 * the broker; all clocks are those of one machine.
 */
import type { CallAnswer } from "../../../harness/processes/process-clients.js";
import { grouped } from "../grouped.js";
import type { Heard } from "../listener.js";
import { isOutcome } from "../outcomes.js";

/** One execution by an Editor's own account. */
export interface Began {
  /** Undefined where an Editor without a ledger gives its executions names of its own. */
  operationId: string | undefined;
  call: string;
  at: number;
}

export interface WrongAnswer {
  what: string;
  heard: Heard;
}

/** Clocks of processes are read to the millisecond, the store's now and then a little earlier. */
const CLOCKS_MS = 5;

/** An Editor dates the beginning, writes it down with a flush, and counts it then: on a slow disk, or a busy machine, that takes a while. */
const COUNTED_WITHIN_MS = 5_000;

/** Tools that are repeatable in both Editors. */
function isRepeatable(tool: string): boolean {
  return /^(run-tests|compile|set-.+)$/.test(tool);
}

/** What was wrong with the answers of a run. `storeWasLost`: what a restored record says of its times may be later. */
export function wrongAnswers(
  answers: readonly Heard[],
  executions: readonly Began[],
  { storeWasLost = false } = {},
): WrongAnswer[] {
  const account = accountOf(executions, answers);
  const ends = answers.filter(({ reported }) => isOutcome(reported));
  const deliveries = grouped(ends, (heard) => executionIn(heard, account));
  return ends.flatMap((heard) => {
    const same = deliveries.get(executionIn(heard, account)) ?? [];
    const whats = [
      toldAgain(heard, same),
      toldAsNew(heard, account),
      toldAsAnothers(heard, account, storeWasLost ? [] : same),
    ];
    return whats.flatMap((what) => (what === undefined ? [] : [{ what, heard }]));
  });
}

/** A delivered outcome of a repeatable tool is never delivered again as the answer to a later call. */
function toldAgain(later: Heard, same: readonly Heard[]): string | undefined {
  const { call, namesOne, askedAt, reported } = later;
  if (call === undefined || namesOne || !isRepeatable(String(reported.tool))) return undefined;
  const earlier = same.find((one) => one.answeredAt < askedAt && one.request !== later.request);
  if (!earlier) return undefined;
  const ago = askedAt - earlier.answeredAt;
  return `${call}: the outcome of ${reported.log_id} was told ${ago} ms before this call was sent, and is its answer again`;
}

/** An answer that does not say `deduplicated` was executed after its call was accepted. */
function toldAsNew({ call, askedAt, reported }: Heard, account: Account): string | undefined {
  if (reported.deduplicated === true) return undefined;
  const said = `${call ?? "read"}: ${reported.log_id} is reported as new, and was`;
  const acceptedAt = Date.parse(String(reported.accepted_at));
  // Who asks for an operation by its log_id asks for what has become of it.
  if (call !== undefined && !(acceptedAt >= askedAt - CLOCKS_MS))
    return `${said} accepted ${askedAt - acceptedAt} ms before the call was sent`;
  if (!isCounted(reported)) return undefined;
  const own = account.own(reported);
  if (own.length === 0) return `${said} never executed`;
  return own.some(({ at }) => at >= acceptedAt - CLOCKS_MS)
    ? undefined
    : `${said} executed before it was accepted`;
}

/** An answer that is another's execution names the true time of that: not before it, and not after its first telling. */
function toldAsAnothers(
  { call, reported }: Heard,
  account: Account,
  same: readonly Heard[],
): string | undefined {
  if (reported.deduplicated !== true || !isCounted(reported)) return undefined;
  const executedAt = Date.parse(String(reported.executed_at));
  const said = `${call ?? "read"}: ${reported.log_id} is said to have been executed at ${reported.executed_at}`;
  if (Number.isNaN(executedAt)) return said;
  const own = account.own(reported);
  const possible = own.length > 0 ? own : account.of(reported);
  // A reload may come between the beginning of a test run and its first test, which is what is counted.
  const isOfRun = own.length > 0 && executedAt >= Date.parse(String(reported.accepted_at)) - CLOCKS_MS;
  const isBegun = isOfRun || possible.some(({ at }) => at <= executedAt + COUNTED_WITHIN_MS);
  if (!isBegun) return `${said}, before it was: ${possible.map(({ at }) => new Date(at).toISOString())}`;
  const first = same.toSorted((a, b) => a.answeredAt - b.answeredAt)[0];
  if (first === undefined || executedAt <= first.answeredAt + CLOCKS_MS) return undefined;
  return `${said}, after its outcome was told at ${new Date(first.answeredAt).toISOString()}: ${JSON.stringify(first.reported)}`;
}

/** It surely was executed, and Editors count executions of such tools. */
function isCounted({ status, error_code, tool }: CallAnswer): boolean {
  return (
    (status === "completed" || error_code === "TOOL_FAILED") && !/^(get-|find-|ping$)/.test(String(tool))
  );
}

/** Which execution it was: its own operation's, else the one of its call that is nearest to the time that it names. */
function executionIn({ reported }: Heard, account: Account): string {
  const logId = String(reported.log_id);
  const executedAt = Date.parse(String(reported.executed_at));
  // One that was cancelled unsent, or refused, is no execution of its call and names no time.
  if (reported.deduplicated !== true || Number.isNaN(executedAt) || account.own(reported).length > 0)
    return logId;
  const away = ({ at }: Began): number => Math.abs(at - executedAt);
  const nearest = account.of(reported).toSorted((a, b) => away(a) - away(b))[0];
  // One that was interrupted may have ended before it was counted: then the nearest is another's.
  const isOther =
    nearest !== undefined &&
    !isCounted(reported) &&
    (away(nearest) > COUNTED_WITHIN_MS || nearest.at < Date.parse(String(reported.accepted_at)) - CLOCKS_MS);
  return isOther ? logId : (nearest?.operationId ?? logId);
}

interface Account {
  /** Of the operation that was told; of its call, where the Editor names no operations. */
  own(reported: CallAnswer): readonly Began[];
  /** Of the call that it was told for. */
  of(reported: CallAnswer): readonly Began[];
}

function accountOf(executions: readonly Began[], answers: readonly Heard[]): Account {
  const byId = grouped(executions, ({ operationId }) => operationId ?? "");
  const byCall = grouped(executions, ({ call }) => call);
  const nameless = grouped(byId.get("") ?? [], ({ call }) => call);
  const calls = new Map(
    answers.flatMap(({ reported, call }) => (call === undefined ? [] : [[reported.log_id, call]])),
  );
  const callOf = ({ log_id }: CallAnswer): string => calls.get(log_id) ?? "";
  return {
    own: (reported) => byId.get(String(reported.log_id)) ?? nameless.get(callOf(reported)) ?? [],
    of: (reported) => byCall.get(callOf(reported)) ?? [],
  };
}
