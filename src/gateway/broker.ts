/**
 * The broker's verbs (`Broker`). A rule lives here or in the pure functions,
 * never in a surface (mcp, http). No verb executes anything: execution belongs to the Editor's owner.
 */
import type { Candidate } from "../shared/editors/target.js";
import { type Workload, workloadOf } from "../shared/editors/workload.js";
import { BrokerError } from "../shared/errors.js";
import type { OperationView } from "../shared/operation/answer.js";
import {
  asked,
  type Caller,
  fieldsOf,
  isFinal,
  markKnown,
  type OperationRecord,
  type TraceContext,
} from "../shared/operation/operation.js";
import { shortened } from "../shared/printable.js";
import { storeFault } from "../shared/store/connect.js";
import type { AwayEditor, KnownEditor } from "../shared/store/editors/editors.js";
import type { LinesRead } from "../shared/store/operations/console-lines.js";
import type { Wanted } from "../shared/store/operations/listings.js";
import type { Store } from "../shared/store/store.js";
import { answerCounts, durationCounts, inSpan, type Log, PROGRESS_SENT } from "../shared/telemetry.js";
import { NO_RULES } from "../shared/tools/call-rules.js";
import { type Principals, permissionsOf } from "./auth/authenticator.js";
import { type ToolCall, waitSecondsOf } from "./call-reader.js";
import { type Cancel, createCancel } from "./cancel.js";
import type { Catalog, OfferedTool } from "./catalog.js";
import type { ClientPresence } from "./client-presence.js";
import type { FirstContact } from "./editors/first-contact.js";
import type { KnownEditorsReader } from "./editors/known-editors.js";
import { type LastCatalogs, unknownTo } from "./editors/last-catalogs.js";
import { namedAmong, stands, type Unreached, unreachedOf, withDiagnoses } from "./editors/target-error.js";
import { createDeliveries, type Deliveries, type Waiters } from "./exchange.js";
import {
  createOperatorsEditors,
  type OperatorsEditors,
  type OperatorsEditorsDeps,
} from "./operator-verbs/editors.js";
import {
  createOperatorsOperations,
  type OperatorsOperations,
  type OperatorsOperationsDeps,
} from "./operator-verbs/operations.js";
import type { Results } from "./results/results.js";
import { createSubmit, type Submission, type SubmitDeps, type SubmitOptions } from "./submit.js";
import { createViews, type Explained, explained, type ViewOptions, type ViewSources } from "./views.js";

// The verbs of operators: everybody's operations, Editors and their owners. The rights are checked here, for every surface.

interface OperatorVerbs extends OperatorsOperations, OperatorsEditors {}

type OperatorVerbsDeps = OperatorsOperationsDeps & OperatorsEditorsDeps;

function createOperatorVerbs(deps: OperatorVerbsDeps): OperatorVerbs {
  return { ...createOperatorsOperations(deps), ...createOperatorsEditors(deps) };
}

export interface Broker extends Deliveries, Pick<ClientPresence, "present" | "clients"> {
  /** Accepts a call, or finds the operation that it repeats; does not wait. Throws BrokerError if nothing was accepted. */
  submit(call: ToolCall): Promise<Submission>;
  /** An operation of this principal for a person who looks; "retention_ended" if its retention ended, undefined if there is none. */
  look(principal: string, logId: string): Promise<OperationView | "retention_ended" | undefined>;
  /** The same for a client that names it: it stays in the queue, even if the request that created it is cancelled. */
  read(principal: string, logId: string): Promise<OperationView | "retention_ended" | undefined>;
  /** Waits for the end of an operation, then answers its present state. Ending a wait changes nothing. */
  wait(
    principal: string,
    logId: string,
    wait: {
      ms: number;
      signal?: AbortSignal | undefined;
      onChange?: ((view: OperationView) => void) | undefined;
      /** The caller that named the log_id, if this is not a call's own wait: it asks for the outcome. */
      askedBy?: Caller | undefined;
      /** It is the wait of a tool call: how the call is answered is counted. */
      isCall?: boolean;
      /** This call made the operation a moment ago (Wait). */
      isNew?: boolean;
      /** What it belongs to. */
      trace?: TraceContext | undefined;
    },
  ): Promise<OperationView | "retention_ended" | undefined>;
  /** What no other verb sees, for the metrics: a call was answered by its log_id without a wait; a client was told of progress. */
  count(event: "log_id" | "progress"): Promise<void>;
  /** Waits without a limit: true once it has ended, false if the signal aborted first or the principal has no such operation that is open. */
  ended(principal: string, logId: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Cancels an operation that waits and was surely not sent, and asks the Editor to cancel any other. An operation whose
   * Editor is gone for good ends as interrupted. Answers the state after the Editor replied, or after 2 s.
   */
  cancel: Cancel;
  /** The operation, with the calls that found it instead of creating one. */
  explain(principal: string, logId: string): Promise<Explained | "retention_ended" | undefined>;
  /** What the Console said while it ran, after this line; undefined if the principal has no such operation. */
  log(principal: string, logId: string, after: number): Promise<LinesRead | undefined>;
  /** The principal's operations, newest first. */
  list(principal: string, limit: number, wanted?: Wanted): Promise<OperationView[]>;
  /** Every known Editor, or those that the principal may use; `connected`: it showed a sign of life recently; then, for a principal, with its `workload`. */
  editors(principal?: string): Promise<{
    editors: (KnownEditor & { connected: boolean; isPaused: boolean; workload?: Workload | undefined })[];
    /** Found on a worker's machine, but without an answer to hello: no call can name them yet. */
    unreached: Unreached[];
    /** The store does not know them any more: their last catalogues are noted, and calls may name them. */
    noted: AwayEditor[];
    /** Why the store must not be trusted with new operations; undefined: it may. */
    unfit: BrokerError | undefined;
    now: number;
  }>;
  /** The Editor that a name identifies: an id, its unique beginning, or a project's name. Throws as `submit` does. */
  editor(principal: string, named: string): Promise<Candidate>;
  /** Every tool, or those that the principal may call on its Editors; those of an Editor that runs here are waited for. */
  tools(principal?: string): Promise<OfferedTool[]>;
  /** How long an ended operation can be read, ms. */
  retentionMs(): Promise<number>;
  /** The secret of this store's gateways that signs what a stateless client carries from one request to the next. */
  clientStateKey(): Promise<Uint8Array>;
  /** Reads stored and filtered results in parts. */
  results: Results;
  /** What only operators may do. */
  operate: OperatorVerbs;
}

export interface BrokerDeps
  extends Omit<SubmitDeps, "deliveries">,
    ViewSources,
    Pick<Store, "retentionMs" | "clientStateKey">,
    Pick<OperatorVerbsDeps, "allOperations" | "owners" | "pools" | "log"> {
  catalog: Catalog;
  contact: Pick<FirstContact, "awaited">;
  principals: Principals;
  presence: Pick<ClientPresence, "present" | "clients">;
  waiters: Waiters;
  askForCancel: (logId: string) => Promise<void>;
  candidates: () => Promise<Candidate[]>;
  lastCatalogs: Pick<LastCatalogs, "all">;
  knownEditors: Pick<KnownEditorsReader, "read" | "shown" | "makeKnown" | "awaitMissing" | "drop">;
}

export interface BrokerOptions extends SubmitOptions, ViewOptions {}

export function createBroker(deps: BrokerDeps, options: BrokerOptions): Broker {
  const { operations, editors, waiters } = deps;
  const { viewOf, briefViewOf, ownRecord, ownWithResult, read } = createViews(deps, options);
  const deliveries = createDeliveries(operations);

  /**
   * Another caller waits for the operation or receives its log_id, so it stays. Answers the present record, which may have
   * left the queue just before. Writes at most once per operation.
   */
  const markWanted = async (record: OperationRecord): Promise<OperationRecord> => {
    if (!markKnown(record)) return record;
    const changed = await operations.change(record.logId, (latest) => {
      const wanted = markKnown(latest);
      return wanted && { record: wanted };
    });
    return "record" in changed ? changed.record : record;
  };
  const accept = createSubmit({ ...deps, deliveries }, options);

  /** A caller that names a waiting operation knows its log_id. */
  const ownNamed: typeof ownRecord = async (principal, logId) => {
    const own = await ownRecord(principal, logId);
    return typeof own === "object" ? markWanted(own) : own;
  };

  /** A caller that waits for an outcome is owed it; what is repeatable or only read is owed to nobody. */
  const asksFor = async (principal: string, logId: string, caller: Caller): Promise<void> => {
    const own = await ownNamed(principal, logId);
    if (typeof own !== "object" || own.effect !== "mutating" || !asked(own, caller)) return;
    await deliveries.asks(caller, logId);
  };

  const cancel = createCancel({ ...deps, ownNamed, viewOf, read });

  const editor: Broker["editor"] = async (principal, named) => {
    const { sees } = await permissionsOf(deps.principals, principal);
    const find = async (): Promise<Candidate | BrokerError> =>
      namedAmong(
        named,
        (await deps.candidates()).filter(({ id }) => sees(id)),
      );
    let found = await find();
    if (found instanceof BrokerError && (await deps.contact.awaited())) found = await find();
    if (found instanceof BrokerError) throw await withDiagnoses(found, deps, sees);
    return found;
  };

  const connected = async (): Promise<Map<string, boolean>> =>
    new Map((await deps.candidates()).map((candidate) => [candidate.id, candidate.connected]));

  return {
    ...deliveries,
    present: deps.presence.present,
    clients: deps.presence.clients,

    async submit(call) {
      // What its client has just been given counts.
      await deliveries.noted();
      for (;;) {
        const submission = await accept(call);
        if (submission.relation !== "joined") return submission;
        const record = await markWanted(submission.record);
        // At this moment it left the queue as abandoned, but this call wants it.
        if (record.state === "cancelled" && record.abandonedAt !== undefined) continue;
        return { ...submission, record };
      }
    },

    look: read,

    async read(principal, logId) {
      const own = await ownNamed(principal, logId);
      return typeof own === "object" ? viewOf(own) : own;
    },

    async wait(principal, logId, wait) {
      const beganAt = performance.now();
      if (wait.askedBy) await asksFor(principal, logId, wait.askedBy);
      let latest: Awaited<ReturnType<typeof ownWithResult>>;
      await waiters.until(
        logId,
        async () => {
          latest = await ownWithResult(principal, logId);
          if (typeof latest !== "object") return true;
          const view = wait.onChange && (await viewOf(latest.record, latest.piece));
          if (typeof view === "object") wait.onChange?.(view);
          return isFinal(latest.record.state) ? true : undefined;
        },
        { ...wait, follows: wait.onChange !== undefined },
      );
      if (typeof latest === "object") {
        const hasEnded = isFinal(latest.record.state);
        const answer = wait.signal?.aborted ? "given_up" : hasEnded ? "outcome" : "log_id";
        const counts = wait.isCall ? answerCounts(answer) : {};
        deps.counters.add({ ...durationCounts("waited", performance.now() - beganAt), ...counts });
      }
      // Each message causes a reading, which reads only the record; the rest of the answer is read once.
      return typeof latest === "object" ? viewOf(latest.record, latest.piece) : latest;
    },

    async count(event) {
      deps.counters.add(event === "log_id" ? answerCounts("log_id") : PROGRESS_SENT);
    },

    async ended(principal, logId, signal) {
      const first = await ownRecord(principal, logId);
      if (typeof first !== "object" || isFinal(first.state)) return false;
      const isOver = async (): Promise<boolean | undefined> => {
        const own = await ownRecord(principal, logId);
        if (typeof own !== "object") return false;
        return isFinal(own.state) ? true : undefined;
      };
      return (await waiters.until(logId, isOver, { ms: Number.POSITIVE_INFINITY, signal })) ?? false;
    },

    cancel,

    async explain(principal, logId) {
      const record = await ownRecord(principal, logId);
      return typeof record === "object" ? explained(operations, record) : record;
    },

    async log(principal, logId, after) {
      const own = await ownRecord(principal, logId);
      return typeof own === "object" ? operations.linesAfter(own.executedAs ?? logId, after) : undefined;
    },

    async list(principal, limit, wanted) {
      const listed = await operations.listOf(principal, limit, wanted);
      const views = await Promise.all(listed.map(async (record) => briefViewOf(await markWanted(record))));
      return views.filter((view) => view !== "retention_ended");
    },

    async editors(principal) {
      const [{ sees }, known, last, reported, now, unfit] = await Promise.all([
        permissionsOf(deps.principals, principal),
        editors.all(),
        deps.lastCatalogs.all(),
        editors.diagnoses(),
        operations.now(),
        deps.assertFit().then(
          () => undefined,
          (error: unknown) => (error instanceof BrokerError ? error : undefined),
        ),
      ]);
      const all = known.filter(({ profile }) => sees(profile.editorId));
      const diagnoses = new Map([...reported].filter(([editor]) => sees(editor)));
      return {
        editors: await Promise.all(
          all.map(async (editor) => {
            const { connected } = editor;
            const [isPaused, workload] = await Promise.all([
              deps.queues.isPaused(editor.profile.editorId),
              connected && principal !== undefined
                ? operations.openOf(editor.profile.editorId).then((open) => workloadOf(open, principal))
                : undefined,
            ]);
            return { ...editor, isPaused, workload, diagnosis: stands(editor.diagnosis, now) };
          }),
        ),
        unreached: unreachedOf(diagnoses, all, now),
        noted: unknownTo(
          known.map(({ profile }) => ({ id: profile.editorId, profile })),
          last,
        ).filter(({ profile }) => sees(profile.editorId)),
        unfit,
        now,
      };
    },

    editor,

    async tools(principal) {
      await deps.contact.awaited();
      const { sees, refusal } = await permissionsOf(deps.principals, principal);
      const { rules = NO_RULES } = options;
      return (await deps.catalog.tools(sees))
        .filter((tool) => refusal(tool) === undefined)
        .map((tool) => ({ ...tool, waitSeconds: waitSecondsOf(tool, rules) }));
    },
    retentionMs: async () => deps.retentionMs,
    clientStateKey: deps.clientStateKey,
    results: deps.results,
    operate: createOperatorVerbs({ ...deps, briefViewOf, cancel, editor, connected }),
  };
}

// The verbs that make and cancel an operation, as lines of the log, for a person who follows one by its log_id.

/** A client may call any text. */
const LONGEST_NAME = 128;

export function logged(broker: Broker, log: Log): Broker {
  return {
    ...broker,

    async submit(call) {
      try {
        const submission = await broker.submit(call);
        const { record, relation } = submission;
        log.debug({ ...fieldsOf(record), tool: record.tool, relation }, "a call was accepted");
        return submission;
      } catch (error) {
        const { principal, tool } = call;
        const code = storeFault(error)?.code ?? "INTERNAL";
        log.debug({ principal, tool: shortened(tool, LONGEST_NAME), error_code: code }, "a call was refused");
        throw error;
      }
    },

    async cancel(principal, logId, caller) {
      const seen = await broker.cancel(principal, logId, caller);
      if (typeof seen === "object")
        log.debug({ ...fieldsOf(seen.record), state: seen.record.state }, "a cancellation was asked for");
      return seen;
    },
  };
}

/** The verbs that make and follow an operation, as spans of the trace that their call belongs to. */
export function traced(broker: Broker): Broker {
  return {
    ...broker,

    submit: (call) =>
      inSpan(
        "submit",
        {
          parent: call.trace,
          kind: "producer",
          attributes: { "unity_broker.tool": call.tool, "unity_broker.principal": call.principal },
        },
        async (span) => {
          const submission = await broker.submit({ ...call, trace: span.context });
          const { record, relation } = submission;
          span.set({ ...attributesOf(record), "unity_broker.relation": relation });
          if (relation !== "created") span.link(record.trace);
          return submission;
        },
      ),

    wait(principal, logId, wait) {
      if (wait.trace === undefined) return broker.wait(principal, logId, wait);
      const about = { parent: wait.trace, attributes: { "unity_broker.log_id": logId } };
      return inSpan("wait", about, async (span) => {
        const seen = await broker.wait(principal, logId, wait);
        if (typeof seen === "object") span.set({ "unity_broker.state": seen.record.state });
        return seen;
      });
    },
  };
}

function attributesOf({ logId, editor }: OperationRecord) {
  return { "unity_broker.log_id": logId, "unity_broker.editor": editor };
}
