/** An owner's steps around its operations: lease, hello, jobs, acknowledgements (src/worker/owner/owned-operations.ts, link-handlers.ts, owner.ts). */
import { isFinal } from "../../../../src/shared/operation/operation.js";
import { takesFromPool } from "../broker/pools.js";
import type { Offer } from "../offer.js";
import type { Facts } from "../state/facts.js";
import { disconnected, isSeated, started, withoutLease, withoutOwnership } from "../state/owner-state.js";
import {
  editorOf,
  nonceOf,
  type State,
  type WorkerState,
  withEditor,
  without,
  withWorker,
} from "../state/state.js";
import type { Rules } from "../switches.js";
import { hearsHeartbeat, saysHello } from "./hello.js";
import { importsAgain, pipelineSteps } from "./pipeline.js";

export function workerSteps(state: State, facts: Facts, rules: Rules, offer: Offer): void {
  for (const worker of state.workers) {
    const holder = state.store.leases[worker.editor];
    if (!worker.fence) {
      if (holder === undefined) takesLease(state, worker, offer);
      else if (isOrphaned(state, holder)) expiresLease(state, worker, offer);
      continue;
    }
    if (holder !== nonceOf(worker)) losesOwnership(state, worker, offer);
    if (!worker.link) saysHello(state, worker, facts, rules, offer);
    else if (!isSeated(state, worker)) {
      offer(
        "part",
        `${worker.name} notices that its connection is gone`,
        withWorker(state, disconnected(worker)),
      );
    } else {
      hearsHeartbeat(state, worker, facts, offer);
      if (facts.isPool) joinsIn(state, worker, facts, rules, offer);
      acknowledges(state, worker, facts, rules, offer);
    }
    takesJob(state, worker, offer);
    for (const work of worker.works) pipelineSteps({ state, worker, work, facts, rules }, offer);
  }
}

/** Its Editor is in the pool: it serves that, and a heartbeat finds that the store has lost something. */
function joinsIn(state: State, worker: WorkerState, facts: Facts, rules: Rules, offer: Offer): void {
  takesFromPool(state, worker, rules, offer);
  if (worker.importedIn === state.store.incarnation || isAhead(state, worker)) return;
  const { says, changes } = importsAgain({ state, worker, facts, rules });
  offer("part", `${worker.name} ${says}`, changes);
}

/** The list of what the Editor knows is asked for behind what was sent on this connection. */
const isAhead = ({ frames }: State, { name, life, link }: WorkerState): boolean =>
  frames.some(
    (frame) => frame.worker === name && frame.life === life && frame.connection === link?.connection,
  );

/** Nobody alive holds it any more: it runs out. */
const isOrphaned = ({ workers }: State, nonce: string): boolean =>
  !workers.some((worker) => worker.fence && nonceOf(worker) === nonce);

function expiresLease(state: State, { editor }: WorkerState, offer: Offer): void {
  offer("part", `the lease of ${editor} runs out`, { store: withoutLease(state.store, editor) });
}

function takesLease(state: State, worker: WorkerState, offer: Offer): void {
  const { store } = state;
  const { editor } = worker;
  const life = worker.life + 1;
  const epoch = (store.epochs[editor] ?? 0) + 1;
  const ownerNonce = nonceOf({ name: worker.name, life });
  offer("part", `${worker.name} takes the lease of ${editor}, epoch ${epoch}`, {
    store: {
      ...store,
      leases: { ...store.leases, [editor]: ownerNonce },
      epochs: { ...store.epochs, [editor]: epoch },
    },
    ...withWorker(state, {
      ...worker,
      life,
      fence: { epoch, ownerNonce },
      connections: 0,
      epochFrom: null,
      importedIn: null,
    }),
  });
}

function losesOwnership(state: State, worker: WorkerState, offer: Offer): void {
  offer(
    "part",
    `${worker.name} learns that the lease is not its own any more`,
    withoutOwnership(state, worker),
  );
}

/** The main lane: one job at a time. */
function takesJob(state: State, worker: WorkerState, offer: Offer): void {
  if (worker.works.some(({ job }) => job)) return;
  const job = state.store.jobs.find(({ editor }) => editor === worker.editor);
  if (!job) return;
  const known = worker.works.find(({ logId }) => logId === job.logId);
  const works = known
    ? worker.works.map((work) => (work === known ? { ...work, job } : work))
    : [...worker.works, started({ logId: job.logId, job })];
  offer("part", `${worker.name} takes the job of ${job.logId}`, {
    store: { ...state.store, jobs: without(state.store.jobs, job) },
    ...withWorker(state, { ...worker, works }),
  });
}

/** ▲14 An outcome is acknowledged when it is durable. */
function acknowledges(state: State, worker: WorkerState, facts: Facts, rules: Rules, offer: Offer): void {
  const [id] = worker.acks;
  if (id === undefined) return;
  const kept = Object.values(state.copy?.records ?? {});
  const isDurable = kept.some((record) => record.logId === id && isFinal(record.state));
  const waits = facts.rollback !== "old copy" && state.left.rollbacks > 0 && !isDurable;
  if (waits && rules.off !== "acknowledgedAtOnce") return;
  const editor = editorOf(state, worker.editor);
  const entries = editor.ledger.entries.map((entry) =>
    entry.id === id ? { ...entry, acknowledged: true } : entry,
  );
  offer("part", `${worker.name} acknowledges ${id}`, {
    ...withWorker(state, { ...worker, acks: worker.acks.slice(1) }),
    ...withEditor(state, { ...editor, ledger: { ...editor.ledger, entries } }),
  });
}
