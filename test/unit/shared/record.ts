/** Operation records and calls for tests: give only what the story is about. */

import type { Candidate } from "../../../src/shared/editors/target.js";
import type { EditorState, Moment } from "../../../src/shared/operation/again.js";
import type { Snapshot, SubmitRequest } from "../../../src/shared/operation/decide.js";
import type { Asking, Caller, OperationRecord } from "../../../src/shared/operation/operation.js";

/** The store's clock in these stories, ms. */
export const NOW = 1_000_000_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** The store's incarnation, and the one that a flush or a restart begins. */
export const INCARNATION = "store 1";
export const ANOTHER_INCARNATION = "store 2";

/** Where the Editor stands. */
export const MARK = { editorSessionId: "s1", generation: 3, assetCounter: 8 };

export const STDIO: Caller = { id: "assistant", transport: "stdio" };
export const HTTP: Caller = { id: "session", transport: "http" };
export const LATER_SESSION: Caller = { id: "another session", transport: "http" };
/** A request without a session. */
export const SINGLE: Caller = { id: "request:1", transport: "http", isSingleRequest: true };

/** A build by request 1 of the HTTP session, accepted a minute ago and not sent yet. */
export function operation(changes: Partial<OperationRecord> = {}): OperationRecord {
  return {
    logId: "op1",
    hash: "h",
    fingerprint: "f",
    principal: "local",
    tool: "build-player",
    effect: "mutating",
    lane: "main",
    cancellable: false,
    keyed: false,
    editor: "shop@1",
    editorOpen: true,
    after: null,
    order: 1,
    entered: 1,
    mutationSeq: 1,
    incarnation: INCARNATION,
    state: "queued",
    acceptedAt: NOW - MINUTE,
    createdBy: { caller: HTTP.id, requestId: 1, transport: "http" },
    ...changes,
  };
}

/** The same build, executed; the Editor stands where it stood at its end. */
export function executed(changes: Partial<OperationRecord> = {}): OperationRecord {
  return operation({
    state: "completed",
    dispatchedAt: NOW - 50_000,
    startedAt: NOW - 40_000,
    endedAt: NOW - 20_000,
    executionMs: 20_000,
    editorMark: MARK,
    ...changes,
  });
}

/** A run of the tests, executed a moment ago. */
export function tested(changes: Partial<OperationRecord> = {}): OperationRecord {
  return executed({ tool: "run-tests", effect: "repeatable", endedAt: NOW - 5_000, ...changes });
}

/** The same, still under way. */
export function testing(changes: Partial<OperationRecord> = {}): OperationRecord {
  return operation({ tool: "run-tests", effect: "repeatable", state: "running", ...changes });
}

/** What the record keeps of an answer that was delivered to a caller, which need not have read it. */
export function reported(
  caller: Caller,
  { deliveredAt = NOW - 10_000, ...asking }: Asking = {},
): Pick<OperationRecord, "firstDeliveredAt" | "askers"> {
  return { firstDeliveredAt: deliveredAt, askers: { [caller.id]: { deliveredAt, ...asking } } };
}

/** The Editor as it is known now. */
export function editorAt(changes: Partial<EditorState> = {}): EditorState {
  return { id: "shop@1", mutationSeq: 1, mark: MARK, ...changes };
}

export function moment(changes: Partial<Moment> = {}): Moment {
  return { now: NOW, incarnation: INCARNATION, editors: [editorAt()], ...changes };
}

/** A connected Editor that a call may go to. */

export function around(...ids: string[]): Pick<SubmitRequest, "targetContext"> {
  return { targetContext: { candidates: ids.map((id) => candidate(id)) } };
}

/** The identical call, by the HTTP session unless said otherwise; one Editor is known. */
export function call(changes: Partial<SubmitRequest> = {}): SubmitRequest {
  return {
    caller: HTTP,
    fingerprint: "f",
    hash: "h",
    target: { kind: "open" },
    ...around("shop@1"),
    keyed: false,
    isChange: true,
    ...changes,
  };
}

/** A connected Editor that a call may go to. */
export function candidate(id: string, changes: Partial<Candidate> = {}): Candidate {
  const [projectName = ""] = id.split("@");
  return {
    id,
    projectName,
    projectPath: `/projects/${projectName}`,
    connected: true,
    labels: [],
    ...changes,
  };
}

/** The store as it stands when these are the operations of the hash, oldest first. */
export function snapshot(records: OperationRecord[] = [], changes: Partial<Snapshot> = {}): Snapshot {
  return {
    ...moment({ editors: [editorAt({ mutationSeq: records.at(-1)?.mutationSeq ?? 0 })] }),
    newest: records.at(-1)?.logId ?? null,
    records,
    ...changes,
  };
}
