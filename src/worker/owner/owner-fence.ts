/** The fence (▲11), by which an owner proves its ownership to its Editor. */
import type { EditorFence, Lease } from "../../shared/store/editors/lease.js";

export interface OwnerFence {
  /** The last fence is kept when the lease is lost: the Editor refuses requests that are still sent under it. */
  now(): EditorFence;
  /** The same, for the hello of a new connection. */
  forHello(): EditorFence;
  /** Only the last connection has said hello with this epoch: nothing of an earlier one can be journalled any more. */
  isFresh(): boolean;
  /** Takes a new epoch, for the next hello. */
  renew(): Promise<boolean>;
  /** Epoch raise (▲10 a): the Editor has seen a higher epoch. False: this owner has lost the lease and may not raise it. */
  raiseAbove(highestEpoch: number): Promise<boolean>;
}

export function createOwnerFence(lease: Pick<Lease, "raise">, held: EditorFence): OwnerFence {
  let fence = held;
  let hellos = 0;
  const raiseAbove = async (highestEpoch: number): Promise<boolean> => {
    const raised = await lease.raise(highestEpoch);
    if (!raised) return false;
    fence = raised;
    hellos = 0;
    return true;
  };
  return {
    now: () => fence,
    forHello() {
      hellos += 1;
      return fence;
    },
    isFresh: () => hellos <= 1,
    renew: () => raiseAbove(fence.epoch),
    raiseAbove,
  };
}
