/** When a background broker has been unused for long enough to end. */

export interface IdleWatch {
  /** Resolves with "idle"; never if it may stay for ever. */
  readonly over: Promise<"idle">;
  close(): void;
}

/** Looks a few times in each idle time, and at least once a minute, so that the end is not late by much. */
const LOOKS = 4;
const LONGEST_PAUSE_MS = 60_000;

/** `idleMs` 0: it stays until it is ended. `isUsed` may fail while the store is away: that counts as used. */
export function createIdleWatch({
  idleMs,
  isUsed,
  lastUsedAt,
}: {
  idleMs: number;
  isUsed: () => Promise<boolean>;
  /** Monotonic ms. */
  lastUsedAt: () => number;
}): IdleWatch {
  let timer: NodeJS.Timeout | undefined;
  let usedAt = performance.now();
  const over = new Promise<"idle">((resolve) => {
    if (idleMs === 0) return;
    const look = async (): Promise<void> => {
      if (await isUsed().catch(() => true)) usedAt = performance.now();
      const idleSince = Math.max(usedAt, lastUsedAt());
      if (performance.now() - idleSince >= idleMs) resolve("idle");
      else timer = setTimeout(() => void look(), Math.min(idleMs / LOOKS, LONGEST_PAUSE_MS));
    };
    void look();
  });
  return { over, close: () => clearTimeout(timer) };
}
