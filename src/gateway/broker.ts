/**
 * The broker's verbs: submit, read, wait, cancel, explain, list, and confirm. Every surface is a skin over them; a
 * rule lives here or in the pure functions below, never in a skin. No verb executes anything: execution belongs to
 * the Editor's owner.
 */
import type { OperationView } from "../shared/answer.js";
import { BrokerError } from "../shared/errors.js";
import { givenUp, goneOf } from "../shared/gone.js";
import { isFinal, next, type OperationRecord } from "../shared/operation.js";
import type { KnownEditor } from "../shared/redis/editors.js";
import type { Change } from "../shared/redis/operations.js";
import type { Requester } from "../shared/replay.js";
import { durationCounts } from "../shared/tally.js";
import type { Candidate } from "../shared/target.js";
import type { Duplicate } from "../shared/timeline.js";
import { isSurelyUnsent } from "../shared/unsent.js";
import { type Abandonment, createAbandonment } from "./abandoned.js";
import { accessOf } from "./access.js";
import type { Principals } from "./auth/authenticator.js";
import type { ToolCall } from "./call-reader.js";
import type { Catalog, OfferedTool } from "./catalog.js";
import { createDeliveries, type Deliveries } from "./deliveries.js";
import type { KnownEditorsReader } from "./known-editors.js";
import type { Results } from "./results.js";
import { createSubmit, type Submission, type SubmitDeps, type SubmitOptions } from "./submit.js";
import { namedAmong } from "./target-error.js";
import { stands, type Unreached, unreachedOf, withTroubles } from "./troubles.js";
import { createViews, type ViewOptions, type ViewSources } from "./views.js";
import type { Waiters } from "./waiters.js";

export interface Explained {
  record: OperationRecord;
  duplicates: Duplicate[];
}

export interface Broker extends Deliveries, Pick<Abandonment, "abandon"> {
  /** Accepts a call, or finds the operation that it repeats; answers at once. Throws BrokerError; then nothing was accepted. */
  submit(call: ToolCall): Promise<Submission>;
  /** An operation of this principal; "ended" when its retention ended, undefined when there is none. */
  read(principal: string, logId: string): Promise<OperationView | "ended" | undefined>;
  /** Waits for the end of an operation, and answers where it stands then. Ending a wait changes nothing. */
  wait(
    principal: string,
    logId: string,
    wait: {
      ms: number;
      signal?: AbortSignal | undefined;
      onChange?: ((view: OperationView) => void) | undefined;
      /** The caller named the log_id: it is not the request that created the operation. */
      names?: boolean;
    },
  ): Promise<OperationView | "ended" | undefined>;
  /**
   * Cancels what waits and was surely not sent, asks the Editor to cancel the rest, and ends as interrupted what an
   * Editor had that is gone for good. Answers where it stands after the Editor replied, or after 2 s.
   */
  cancel(
    principal: string,
    logId: string,
    requester: Requester,
  ): Promise<OperationView | "ended" | undefined>;
  /** The operation with the calls that found it instead of creating another. */
  explain(principal: string, logId: string): Promise<Explained | "ended" | undefined>;
  /** The principal's operations, the latest first. */
  list(principal: string, limit: number): Promise<OperationView[]>;
  /** Every Editor ever seen, or those of them that the principal may use; `connected`: it showed a sign of life lately. */
  editors(principal?: string): Promise<{
    editors: (KnownEditor & { connected: boolean })[];
    /** Found on a worker's machine, but they never answered its hello: no call can mean them yet. */
    unreached: Unreached[];
    now: number;
  }>;
  /** The one Editor that a name means: an id, its unique beginning, or a project's name. Throws what `submit` would. */
  editor(principal: string, named: string): Promise<Candidate>;
  /** Every tool, or those that the principal may call on the Editors that it may use. */
  tools(principal?: string): Promise<OfferedTool[]>;
  /** Stored results and what was filtered out of them, read in part. */
  results: Results;
}

export interface BrokerDeps extends Omit<SubmitDeps, "deliveries">, ViewSources {
  catalog: Catalog;
  principals: Principals;
  waiters: Waiters;
  askForCancel: (logId: string) => Promise<void>;
  candidates: () => Promise<Candidate[]>;
  knownEditors: Pick<KnownEditorsReader, "read" | "mayComeBack">;
}

export interface BrokerOptions extends SubmitOptions, ViewOptions {}

const CANCEL_ANSWER_MS = 2_000;

export function createBroker(deps: BrokerDeps, options: BrokerOptions): Broker {
  const { operations, queues, editors, waiters } = deps;
  const { isHere, viewOf, briefViewOf, ownRecord, read } = createViews(deps, options);
  const deliveries = createDeliveries(operations);
  const { abandon, want } = createAbandonment(operations);
  const accept = createSubmit({ ...deps, deliveries }, options);

  /** A caller that names an operation that waits knows its log_id. */
  const ownNamed: typeof ownRecord = async (principal, logId) => {
    const own = await ownRecord(principal, logId);
    return typeof own === "object" ? want(own) : own;
  };

  const cancel: Broker["cancel"] = async (principal, logId, requester) => {
    const own = await ownNamed(principal, logId);
    if (typeof own !== "object") return own;
    const editor = await editors.find(own.editor);
    const here = editor !== undefined && isHere(editor, await operations.now());
    const known = await deps.knownEditors.read();
    const decide = (record: OperationRecord, now: number): Change | undefined => {
      const confirmed = deliveries.confirmedBy(record, requester, now);
      const gone = goneOf(record, editor, here);
      const ended = gone && givenUp(confirmed, gone, editor, now);
      if (ended) return { record: ended };
      const state = isSurelyUnsent(record, known) && next(record.state, "cancelled");
      if (state) return { record: { ...confirmed, state, endedAt: now } };
      return isFinal(record.state) || record.cancel
        ? undefined
        : { record: { ...confirmed, cancel: { requestedAt: now } } };
    };
    const changed = await operations.change(logId, decide, { incarnation: known.incarnation });
    // ▲13 The store was lost in this moment.
    if (changed.kind === "incarnation") return cancel(principal, logId, requester);
    if (!("record" in changed)) return undefined;
    if (isFinal(changed.record.state)) {
      if (changed.kind === "applied") await queues.remove(changed.record);
      return viewOf(changed.record);
    }
    await deps.askForCancel(logId);
    await waiters.until(
      logId,
      async () => {
        const record = await operations.find(logId);
        return record === undefined || isFinal(record.state) || record.cancel?.answer ? true : undefined;
      },
      { ms: CANCEL_ANSWER_MS, follows: true },
    );
    return read(principal, logId);
  };

  return {
    ...deliveries,
    abandon,

    async submit(call) {
      for (;;) {
        const submission = await accept(call);
        if (submission.relation !== "joined") return submission;
        const record = await want(submission.record);
        // It left the queue in this moment, as given up by everybody: this call wants it.
        if (record.state === "cancelled" && record.abandonedAt !== undefined) continue;
        return { ...submission, record };
      }
    },

    async read(principal, logId) {
      const own = await ownNamed(principal, logId);
      return typeof own === "object" ? viewOf(own) : own;
    },

    async wait(principal, logId, wait) {
      const beganAt = performance.now();
      if (wait.names) await ownNamed(principal, logId);
      let latest: OperationRecord | "ended" | undefined;
      await waiters.until(
        logId,
        async () => {
          latest = await ownRecord(principal, logId);
          if (typeof latest !== "object") return true;
          const view = wait.onChange && (await viewOf(latest));
          if (typeof view === "object") wait.onChange?.(view);
          return isFinal(latest.state) ? true : undefined;
        },
        { ...wait, follows: wait.onChange !== undefined },
      );
      if (typeof latest === "object") deps.tally.add(durationCounts("waited", performance.now() - beganAt));
      // Each message wakes a look, so a look reads the record only; what else an answer shows is read once.
      return typeof latest === "object" ? viewOf(latest) : latest;
    },

    cancel,

    async explain(principal, logId) {
      const record = await ownNamed(principal, logId);
      return typeof record === "object"
        ? { record, duplicates: await operations.duplicatesOf(logId) }
        : record;
    },

    async list(principal, limit) {
      const listed = await operations.listOf(principal, limit);
      const views = await Promise.all(listed.map(async (record) => briefViewOf(await want(record))));
      return views.filter((view) => view !== "ended");
    },

    async editors(principal) {
      const [{ sees }, known, told, now] = await Promise.all([
        accessOf(deps.principals, principal),
        editors.all(),
        editors.troubles(),
        operations.now(),
      ]);
      const all = known.filter(({ profile }) => sees(profile.editorId));
      const troubles = new Map([...told].filter(([editor]) => sees(editor)));
      return {
        editors: all.map((editor) => ({
          ...editor,
          connected: isHere(editor, now),
          trouble: stands(editor.trouble, now),
        })),
        unreached: unreachedOf(troubles, all, now),
        now,
      };
    },

    async editor(principal, named) {
      const [{ sees }, candidates] = await Promise.all([
        accessOf(deps.principals, principal),
        deps.candidates(),
      ]);
      const found = namedAmong(
        named,
        candidates.filter(({ id }) => sees(id)),
      );
      if (found instanceof BrokerError) throw await withTroubles(found, deps, sees);
      return found;
    },

    async tools(principal) {
      const { sees, refusal } = await accessOf(deps.principals, principal);
      return (await deps.catalog.tools(sees)).filter((tool) => refusal(tool) === undefined);
    },
    results: deps.results,
  };
}
