/** How long a link waits before it calls its Editor again, and what cuts the wait short. */
import { type BackoffOptions, createBackoff } from "../../shared/backoff.js";

export interface ReconnectBackoff {
  /** Waits before the next attempt: `ms`, or as failures and announcements say. */
  pause(ms?: number): Promise<void>;
  /** Ends a wait that is under way. */
  hurry(): void;
  /** Forgets the failures. */
  forget(): void;
  /** The Editor is gone for a moment and said so: it is looked for often, without backing off. */
  reloading(): void;
  /** It is there again. */
  arrived(): void;
}

/** While a reload was announced, somebody looks this often, ms … */
const RELOAD_LOOK_MS = 100;
/** … for so long; large projects take their time. */
const RELOAD_MS = 120_000;

export function createReconnectBackoff(options?: BackoffOptions): ReconnectBackoff {
  const backoff = createBackoff(options);
  /** Monotonic, ms. */
  let reloadingUntil = 0;
  let endPause: (() => void) | undefined;

  const wait = (): number => (performance.now() < reloadingUntil ? RELOAD_LOOK_MS : backoff.next());

  return {
    pause: (ms = wait()) =>
      new Promise((resolve) => {
        const clock = setTimeout(() => endPause?.(), ms);
        endPause = () => {
          clearTimeout(clock);
          endPause = undefined;
          resolve();
        };
      }),
    hurry: () => endPause?.(),
    forget: backoff.reset,
    reloading() {
      reloadingUntil = performance.now() + RELOAD_MS;
    },
    arrived() {
      reloadingUntil = 0;
    },
  };
}
