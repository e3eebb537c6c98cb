/** How long a link waits before it connects to its Editor again, and what ends the wait early. */
import { type BackoffOptions, createBackoff } from "../../shared/backoff.js";

export interface ReconnectBackoff {
  /** Waits before the next attempt: `ms`, or a time that depends on failures and announcements. */
  pause(ms?: number): Promise<void>;
  /** Ends a wait that is under way. */
  hurry(): void;
  /** Forgets the failures. */
  forget(): void;
  /** The Editor announced a short absence: try often, without backing off. */
  reloading(): void;
  /** The Editor is back. */
  arrived(): void;
}

/** After an announced reload, try this often, ms … */
const RELOAD_LOOK_MS = 100;
/** … for this long; large projects need it. */
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
