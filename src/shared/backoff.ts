/** Pauses between attempts: none before the first retry, then one step more each time up to a cap. */

export interface BackoffOptions {
  /** ms by which each pause is longer than the one before. */
  stepMs?: number;
  /** ms that no pause exceeds. */
  maxMs?: number;
}

export interface Backoff {
  /** ms to wait before the next attempt; each call counts as one attempt. */
  next(): number;
  /** Forgets the failures: the next pause is 0 again. */
  reset(): void;
}

/**
 * Makes a backoff that starts at 0. The default cap is below 1 s, because an Editor that listens again after a domain
 * reload must have its worker back within one second. No jitter: one lease holder calls one Editor.
 */
export function createBackoff({ stepMs = 250, maxMs = 750 }: BackoffOptions = {}): Backoff {
  let attempts = 0;
  return {
    next: () => Math.min(attempts++ * stepMs, maxMs),
    reset() {
      attempts = 0;
    },
  };
}
