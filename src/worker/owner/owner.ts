import type { EditorFence, LeaseOptions } from "../../shared/store/editors/lease.js";
import type { EditorAddress } from "../editor/editor-link.js";
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

export function createOwner(deps: OwnedEditorDeps, options: OwnerOptions): Owner {
  const { log, editorId } = deps;
  let endpoint = deps.endpoint;
  let owned: OwnedEditor | undefined;
  // One ownership ends before the next begins, even if the lease is lost and taken again quickly.
  let turn: Promise<void> = Promise.resolve();
  let wanted: EditorFence | undefined;

  const end = async (): Promise<void> => {
    const ended = owned;
    owned = undefined;
    await ended?.close();
  };

  const follow = (): void => {
    turn = turn
      .then(async () => {
        await end();
        const storeId = await deps.store.claim().catch(() => deps.identity.storeId);
        const fence = wanted;
        const identity = { ...deps.identity, storeId };
        if (fence) owned = createOwnedEditor({ ...deps, identity, endpoint }, lease, fence, options);
      })
      .catch((error: unknown) =>
        log.error({ editor: editorId, error: (error as Error).message }, "the owner could not begin or end"),
      );
  };

  const lease = deps.store.lease(editorId, options.lease, {
    onHeld(fence) {
      log.info({ editor: editorId, epoch: fence.epoch }, "owns the Editor");
      wanted = fence;
      follow();
    },
    onLost() {
      log.warn({ editor: editorId }, "lost the Editor's lease");
      wanted = undefined;
      follow();
    },
    onError: (error) =>
      log.warn({ editor: editorId, error: error.message }, "the lease could not be renewed"),
  });

  return {
    moveTo(next) {
      endpoint = next;
      owned?.moveTo(next);
    },
    async close() {
      wanted = undefined;
      follow();
      await turn;
      await lease.close();
      // The lease may have been taken while the last ownership ended.
      wanted = undefined;
      follow();
      await turn;
    },
  };
}
