/** An owner's work under way: one piece for each operation, whatever asked for it. */
import type { ExecutorResult } from "../execution/executor-deps.js";

export interface UnderWay {
  /** The work under way on this operation; begins it if there is none. */
  join(logId: string, begin: () => Promise<ExecutorResult>): Promise<ExecutorResult>;
  /** Reports of an Editor about operations that its owner does not have are not trusted. */
  isOwn(logId: string): boolean;
  logIds(): string[];
  /** Resolves when all present work has ended. */
  ended(): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const works = new Map<string, Promise<ExecutorResult>>();
  return {
    join(logId, begin) {
      const known = works.get(logId);
      if (known) return known;
      const work = begin().finally(() => works.delete(logId));
      works.set(logId, work);
      return work;
    },
    isOwn: (logId) => works.has(logId),
    logIds: () => [...works.keys()],
    async ended() {
      await Promise.allSettled(works.values());
    },
  };
}
