/** Listeners for the end of operations on the Editor. */
import type { Outcome } from "../../shared/wire/wire.js";

export interface OutcomeListeners {
  follow(operationId: string): { outcome: Promise<Outcome>; stop(): void };
  finished(operationId: string, outcome: Outcome): void;
  /** The connection ended: it delivers no further outcome. */
  lost(error: Error): void;
  /** An outcome arrived and could not be read: of this operation, or of any (undefined). */
  missed(error: Error, operationId: string | undefined): void;
}

interface Follower {
  operationId: string;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

export function createOutcomeListeners(): OutcomeListeners {
  const followers = new Set<Follower>();
  const of = (operationId: string): Follower[] =>
    [...followers].filter((follower) => follower.operationId === operationId);

  return {
    follow(operationId) {
      let stop: () => void = () => undefined;
      const outcome = new Promise<Outcome>((resolve, reject) => {
        const follower = { operationId, resolve, reject };
        followers.add(follower);
        stop = () => followers.delete(follower);
      });
      // Nothing may be awaiting it when the connection ends.
      outcome.catch(() => undefined);
      return { outcome, stop };
    },
    finished(operationId, outcome) {
      for (const follower of of(operationId)) follower.resolve(outcome);
    },
    lost(error) {
      for (const follower of followers) follower.reject(error);
      followers.clear();
    },
    missed(error, operationId) {
      const missing = operationId === undefined ? [...followers] : of(operationId);
      for (const follower of missing) follower.reject(error);
    },
  };
}
