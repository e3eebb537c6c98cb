/** Assembles the gateway: the broker's verbs over a store, and the janitor. The caller adds the surfaces. */

import { createDocuments, type DocumentsOptions } from "../documents/documents.js";
import { ANSWER_SETTINGS, type AnswerForm, type AnswerSettings } from "../shared/answer-forms.js";
import { REPLAY_DEFAULTS, type ReplayOptions } from "../shared/operation/again.js";
import { EXPIRY_LIMITS, type ExpiryLimits } from "../shared/operation/expiry.js";
import { MAX_RESULT_TOKENS } from "../shared/results/preview.js";
import type { Store } from "../shared/store/store.js";
import type { Log } from "../shared/telemetry.js";
import { type CallRules, type IfAway, NO_RULES } from "../shared/tools/call-rules.js";
import type { ExecutionClass } from "../shared/tools/tool.js";
import type { WaitLimits } from "../shared/wait-time.js";
import type { Audit } from "./auth/audit.js";
import { audited } from "./auth/audited.js";
import { OPEN, type Principals } from "./auth/authenticator.js";
import { type Broker, createBroker, logged, traced } from "./broker.js";
import { createCallReader, withFirstContact } from "./call-reader.js";
import { createCatalog } from "./catalog.js";
import { createClientPresence } from "./client-presence.js";
import { createFirstContact } from "./editors/first-contact.js";
import { createKnownEditors } from "./editors/known-editors.js";
import {
  createCatalogNotes,
  createLastCatalogs,
  LAST_CATALOGS,
  type LastCatalogsOptions,
} from "./editors/last-catalogs.js";
import { createEstimates } from "./estimates.js";
import { createWaiters } from "./exchange.js";
import { createJanitor } from "./janitor.js";
import { createPartialDocuments } from "./results/partial-documents.js";
import { createResults } from "./results/results.js";

export interface GatewayOptions {
  replay: ReplayOptions;
  limits: ExpiryLimits;
  /** How often a wait reads the store in case a message was lost, ms. */
  safetyPollMs: number;
  sweepMs: number;
  executionClasses: Readonly<Record<string, ExecutionClass>>;
  /** What is configured for classes, tools and Editors. */
  rules: CallRules;
  /** Ask the Editor to cancel an operation that runs longer than its class. */
  cancelOverdue: boolean;
  /** Ask the user before a destructive tool runs, if the surface can ask. */
  confirmsDestructive: boolean;
  /** For MCP clients that are not known to read the full form. */
  answers: AnswerForm;
  /** Most bytes of one answer; undefined: what its client is known to take. */
  answerLimitBytes: number | undefined;
  waits: WaitLimits;
  /** For calls that do not say what becomes of them while their Editor is away. */
  ifAway: IfAway;
  /** A call that its client cancelled while it waited leaves the queue after this long, ms (janitor.ts). */
  abandonedMs: number;
  forgetEditorMs: number;
  /** How long a call that names no Editor waits for the known Editors after the store was lost, ms. */
  backMs: number;
  /** How long a list of tools, or a call for an unknown Editor or tool, waits for an Editor that runs here, ms. */
  firstContactMs: number;
  /** Larger results are answered by a preview and read in parts. */
  maxResultTokens: number;
  documents: DocumentsOptions;
  /** What is kept of the tools of Editors that are away. */
  lastCatalogs: LastCatalogsOptions;
}

export const GATEWAY_DEFAULTS: GatewayOptions = {
  replay: REPLAY_DEFAULTS,
  limits: EXPIRY_LIMITS,
  safetyPollMs: 5_000,
  sweepMs: 5_000,
  executionClasses: {},
  rules: NO_RULES,
  cancelOverdue: false,
  confirmsDestructive: false,
  answers: ANSWER_SETTINGS.form,
  answerLimitBytes: ANSWER_SETTINGS.limitBytes,
  waits: ANSWER_SETTINGS.waits,
  ifAway: "wait",
  abandonedMs: 60_000,
  forgetEditorMs: 24 * 3_600_000,
  backMs: 5_000,
  firstContactMs: 10_000,
  maxResultTokens: MAX_RESULT_TOKENS,
  documents: {},
  lastCatalogs: LAST_CATALOGS,
};

export interface Gateway {
  broker: Broker;
  /** How MCP clients are answered. */
  answers: AnswerSettings;
  replay: ReplayOptions;
  /** The audit log of the calls; undefined if there is none. */
  audit: Audit | undefined;
  store: Store;
  sweep(): Promise<void>;
  /** Nobody waits for Editors that are coming any more: what serves clients is about to close. */
  stopWaiting(): void;
  /** Ends waits and the janitor; the store stays open, and operations go on. */
  close(): Promise<void>;
}

/**
 * `knownEditorsFile`: where the known Editors are noted, so that missing ones are noticed after a loss of the store, and
 * beside which their last known tools are noted.
 * `principals`: what each may do; without it everybody may do everything. `audit`: the caller closes it.
 * `running`: the ids of the Editors that run on this machine.
 */
export function createGateway(
  deps: {
    store: Store;
    log: Log;
    knownEditorsFile?: string | undefined;
    principals?: Principals | undefined;
    audit?: Audit | undefined;
    running?: (() => Promise<string[]>) | undefined;
  },
  given: Partial<GatewayOptions> = {},
): Gateway {
  const options = { ...GATEWAY_DEFAULTS, ...given };
  const { store, log, principals = OPEN } = deps;
  const noteFile = deps.knownEditorsFile;
  const catalogs = createLastCatalogs({ noteFile, log }, options.lastCatalogs);
  const catalogNotes = createCatalogNotes({ ...store, catalogs, log });
  const catalog = createCatalog(store.editors, store.notifier, catalogs);
  const waiters = createWaiters(store.notifier, options);
  const knownEditors = createKnownEditors({ ...store, log, file: noteFile, catalogs }, options);
  // Noted at once, so that the note is current even while nobody calls.
  let noting: Promise<unknown> = Promise.resolve();
  let isDue = false;
  const note = (): void => {
    // The read that is to begin sees this as well.
    if (isDue) return;
    isDue = true;
    const read = (): Promise<unknown> => {
      isDue = false;
      return knownEditors.read();
    };
    noting = noting.then(read).catch(() => undefined);
  };
  const stopNoting = store.notifier.on("editors", note, note);
  const contact = createFirstContact(
    { ...store, running: deps.running ?? (async () => []) },
    { waitMs: options.firstContactMs },
  );
  const calls = withFirstContact(createCallReader({ catalog, knownEditors, principals }), contact);
  const partials = createPartialDocuments(store.operations);
  const load = async (id: string): Promise<Buffer[] | undefined> =>
    partials.dataOf(id) ??
    (await store.operations.storedResultOf(id)) ??
    (await store.filteredResults.dataOf(id));
  const documents = createDocuments({ load }, options.documents);
  const presence = createClientPresence({
    clients: store.clients,
    now: store.operations.now,
    principals,
    log,
  });
  const untraced = createBroker(
    {
      operations: store.operations,
      retentionMs: store.retentionMs,
      clientStateKey: store.clientStateKey,
      queues: store.queues,
      editors: store.editors,
      allOperations: store.allOperations,
      owners: store.owners,
      pools: store.pools,
      log,
      askForCancel: store.askForCancel,
      candidates: async () => (await knownEditors.read()).candidates,
      lastCatalogs: catalogs,
      heldBack: store.heldBack,
      lastSweep: store.lastSweep,
      estimates: createEstimates(store.operations),
      catalog,
      principals,
      presence,
      calls,
      contact,
      knownEditors,
      waiters,
      assertFit: store.assertFit,
      counters: store.counters,
      results: createResults({ ...store, partials, documents }, options),
    },
    options,
  );
  const verbs = logged(traced(untraced), log);
  const broker = deps.audit ? audited(verbs, principals, deps.audit) : verbs;
  const janitor = createJanitor({ store, log, knownEditors }, { ...options, everyMs: options.sweepMs });
  return {
    broker,
    answers: { form: options.answers, limitBytes: options.answerLimitBytes, waits: options.waits },
    replay: options.replay,
    audit: deps.audit,
    store,
    sweep: janitor.sweep,
    stopWaiting: contact.close,
    async close() {
      stopNoting();
      contact.close();
      waiters.close();
      knownEditors.close();
      catalog.close();
      await presence.close();
      await janitor.close();
      await documents.close();
      await catalogNotes.close();
      await noting;
    },
  };
}
