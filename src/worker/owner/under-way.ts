/** The operations that an owner is processing: each at most once, whether a job, a reconnect or an import began it. */
import type { ExecutorResult } from "../execution/executor-deps.js";

export interface UnderWay {
  /** The work under way on this operation; begins it if there is none. */
  join(logId: string, begin: () => Promise<ExecutorResult>): Promise<ExecutorResult>;
  /** Is it processed here? An Editor's reports about other operations are ignored. */
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
