/** Tries to hold an Editor's lease, and runs an OwnedEditor while it does. */
import { setTimeout as delay } from "node:timers/promises";
import type { EditorFence, LeaseOptions } from "../../shared/store/editors/lease.js";
import { ownerCounts, withFields } from "../../shared/telemetry.js";
import type { EditorAddress } from "../editor/editor-link.js";
import { prepareLanes } from "../execution/lane.js";
import {
  createOwnedEditor,
  type OwnedEditor,
  type OwnedEditorDeps,
  type OwnedEditorOptions,
} from "./owned-editor.js";

export interface OwnerOptions extends OwnedEditorOptions {
  lease: LeaseOptions;
}

export interface Owner {
  moveTo(endpoint: EditorAddress): void;
  /** Gives its work back, then gives up the lease, so that another owner takes over at once. */
  close(): Promise<void>;
}

/** How long the jobs of an owner that died may hold up the next one, ms. */
const TAKE_BACK_MS = 1_000;

export function createOwner(given: OwnedEditorDeps, options: OwnerOptions): Owner {
  const { editorId } = given;
  const log = withFields(given.log, { editor: editorId });
  const deps = { ...given, log };
  let endpoint = deps.endpoint;
  let owned: OwnedEditor | undefined;
  // One ownership ends before the next begins, even if the lease is lost and taken again quickly.
  let turn: Promise<void> = Promise.resolve();
  let wanted: EditorFence | undefined;
  /** Another worker owns the Editor: this one is to go on from there without delay. */
  let isStandBy = false;

  const end = async (): Promise<void> => {
    const ended = owned;
    owned = undefined;
    await ended?.close();
  };

  /** The process that owned it before is dead, so that nobody holds its jobs. */
  let hasDied = false;

  /** What fails here, or takes long, is done later by the lanes: a job whose lock expires is taken again. */
  const takeJobsBack = (): Promise<void> => {
    const taken = deps.store.queues
      .takeBack(editorId)
      .catch((error: unknown) =>
        log.warn({ error: (error as Error).message }, "the jobs could not be taken back"),
      );
    return Promise.race([taken, delay(TAKE_BACK_MS, undefined, { ref: false })]);
  };

  const applyLease = (): void => {
    turn = turn
      .then(async () => {
        await end();
        // Skipped if the previous owner is alive: its lanes may still hold jobs.
        if (wanted && hasDied) await takeJobsBack();
        const fence = wanted;
        if (fence) owned = createOwnedEditor({ ...deps, endpoint }, lease, fence, options);
      })
      .catch((error: unknown) =>
        log.error({ error: (error as Error).message }, "the owner could not begin or end"),
      );
  };

  const lease = deps.store.lease(
    editorId,
    { ...options.lease, version: deps.identity.version },
    {
      onHeld(fence, died) {
        const before = died && { ownerThatDied: died.pid };
        log.info({ epoch: fence.epoch, ...before }, "owns the Editor");
        deps.store.counters.add(ownerCounts(died ? "taken_from_dead" : "taken"));
        wanted = fence;
        hasDied = died !== undefined;
        applyLease();
      },
      onLost() {
        log.warn({}, "lost the Editor's lease");
        deps.store.counters.add(ownerCounts("lost"));
        wanted = undefined;
        applyLease();
      },
      onRefused() {
        // Not at the first refusal: loading BullMQ would delay a start that a client may wait for.
        if (isStandBy) prepareLanes();
        isStandBy = true;
      },
      onError: (error) => log.warn({ error: error.message }, "the lease could not be renewed"),
    },
  );

  return {
    moveTo(next) {
      endpoint = next;
      owned?.moveTo(next);
    },
    async close() {
      wanted = undefined;
      applyLease();
      await turn;
      await lease.close();
      // The lease may have been taken while the last ownership ended.
      wanted = undefined;
      applyLease();
      await turn;
    },
  };
}
