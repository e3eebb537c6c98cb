/** Assembles the gateway: the broker's verbs over a store, and the sweeper. Surfaces are added by who starts it. */

import { createDocuments, type DocumentsOptions } from "../documents/documents.js";
import { MAX_RESULT_TOKENS } from "../shared/cached.js";
import { WAIT_LIMITS, type WaitLimits } from "../shared/expiry.js";
import type { Log } from "../shared/log.js";
import { EDITOR_AWAY_MS } from "../shared/redis/cap.js";
import type { Store } from "../shared/redis/store.js";
import { REPLAY_DEFAULTS, type ReplayOptions } from "../shared/replay.js";
import type { ExecutionClass } from "../shared/tool.js";
import type { Audit } from "./audit.js";
import { audited } from "./audited.js";
import { OPEN, type Principals } from "./auth/authenticator.js";
import { type Broker, createBroker } from "./broker.js";
import { createCallReader } from "./call-reader.js";
import { createCatalog } from "./catalog.js";
import { createKnownEditors } from "./known-editors.js";
import { createQueuedNews } from "./queued-news.js";
import { createResults } from "./results.js";
import { createSweeper, queued } from "./sweeper.js";
import { createToolSchema } from "./tool-schema.js";
import { createWaiters } from "./waiters.js";

export interface GatewayOptions {
  replay: ReplayOptions;
  limits: WaitLimits;
  /** Waits are woken by messages; this look is for a lost one, ms. */
  safetyPollMs: number;
  sweepMs: number;
  editorAwayMs: number;
  executionClasses: Readonly<Record<string, ExecutionClass>>;
  /** Ask the Editor to cancel what runs longer than its class. */
  cancelOverdue: boolean;
  /** Ask the user before a destructive tool runs, where the surface can ask. */
  confirmsDestructive: boolean;
  /** A call that its client cancelled while it waited leaves the queue after this long, ms (sweeper.ts). */
  abandonedMs: number;
  forgetEditorMs: number;
  /** After the loss of the store, a call that names no Editor waits this long for those that were known, ms. */
  backMs: number;
  /** Larger results are answered by a preview, and read in part. */
  maxResultTokens: number;
  documents: DocumentsOptions;
}

export const GATEWAY_DEFAULTS: GatewayOptions = {
  replay: REPLAY_DEFAULTS,
  limits: WAIT_LIMITS,
  safetyPollMs: 5_000,
  sweepMs: 5_000,
  editorAwayMs: EDITOR_AWAY_MS,
  executionClasses: {},
  cancelOverdue: false,
  confirmsDestructive: false,
  abandonedMs: 60_000,
  forgetEditorMs: 24 * 3_600_000,
  backMs: 5_000,
  maxResultTokens: MAX_RESULT_TOKENS,
  documents: {},
};

export interface Gateway {
  broker: Broker;
  /** What was noted of the calls; undefined: nothing is. */
  audit: Audit | undefined;
  store: Store;
  sweep(): Promise<void>;
  /** Ends waits and the sweeper; the store stays open, and operations go on. */
  close(): Promise<void>;
}

/**
 * `knownEditorsFile`: where the known Editors are noted, so that they are missed when the store was lost. `principals`:
 * what each may do; without them everybody may do everything. `audit`: where calls are noted; the caller closes it.
 */
export function createGateway(
  deps: {
    store: Store;
    log: Log;
    knownEditorsFile?: string | undefined;
    principals?: Principals | undefined;
    audit?: Audit | undefined;
  },
  given: Partial<GatewayOptions> = {},
): Gateway {
  const options = { ...GATEWAY_DEFAULTS, ...given };
  const { store, log, principals = OPEN } = deps;
  const catalog = createCatalog(store.editors, store.news);
  const waiters = createWaiters(store.news, options);
  const schema = createToolSchema((tool, error) =>
    log.warn(
      { tool, error: error.message },
      "the tool's arguments are not checked: its schema is none, or one that may take too long",
    ),
  );
  const knownEditors = createKnownEditors({ ...store, log, file: deps.knownEditorsFile }, options);
  // Noted at once, so that the note is not behind what runs while nobody calls.
  let noting: Promise<unknown> = Promise.resolve();
  const stopNoting = store.news.on("editors", () => {
    noting = noting.then(() => knownEditors.read()).catch(() => undefined);
  });
  const calls = createCallReader({ catalog, schema, knownEditors, principals });
  const tell = (logId: string): Promise<unknown> => store.operations.change(logId, queued);
  const load = async (id: string): Promise<Buffer[] | undefined> =>
    (await store.operations.storedResultOf(id)) ?? (await store.derived.dataOf(id));
  const queuedNews = createQueuedNews({ news: store.news, tell, log });
  const documents = createDocuments({ load }, options.documents);
  const verbs = createBroker(
    {
      operations: store.operations,
      queues: store.queues,
      editors: store.editors,
      askForCancel: store.askForCancel,
      candidates: async () => (await knownEditors.read()).candidates,
      heldBack: store.heldBack,
      sweeping: store.sweeping,
      catalog,
      principals,
      calls,
      knownEditors,
      waiters,
      tally: store.tally,
      jobAdded: queuedNews.added,
      results: createResults({ ...store, documents }, options),
    },
    options,
  );
  const broker = deps.audit ? audited(verbs, principals, deps.audit) : verbs;
  const sweeper = createSweeper({ store, log, knownEditors }, { ...options, everyMs: options.sweepMs });
  return {
    broker,
    audit: deps.audit,
    store,
    sweep: sweeper.sweep,
    async close() {
      stopNoting();
      waiters.close();
      queuedNews.close();
      catalog.close();
      await sweeper.close();
      await documents.close();
      await noting;
    },
  };
}
