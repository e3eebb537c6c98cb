/** The fence (▲11), by which an owner proves its ownership to its Editor. */
import type { EditorFence, Lease } from "../../shared/store/editors/lease.js";

export interface OwnerFence {
  /** The last fence is kept when the lease is lost: the Editor refuses requests that are still sent under it. */
  now(): EditorFence;
  /** Epoch raise (▲10 a): the Editor has seen a higher epoch. False: this owner has lost the lease and may not raise it. */
  raiseAbove(highestEpoch: number): Promise<boolean>;
}

export function createOwnerFence(lease: Pick<Lease, "raise">, held: EditorFence): OwnerFence {
  let fence = held;
  return {
    now: () => fence,
    async raiseAbove(highestEpoch) {
      const raised = await lease.raise(highestEpoch);
      if (raised) fence = raised;
      return raised !== undefined;
    },
  };
}
