/** What a lane needs beside its queue, where a test gives it no store: scripts claim nothing for it. */
import type { createLane } from "../../../src/worker/execution/lane.js";

type LaneDeps = Parameters<typeof createLane>[0];

export const WITHOUT_STORE: Pick<
  LaneDeps,
  | "claimant"
  | "localLanes"
  | "findClaim"
  | "wakeWorker"
  | "releaseHeld"
  | "failureOf"
  | "storeAnswers"
  | "onFree"
> = {
  claimant: () => undefined,
  localLanes: new Map(),
  findClaim: async () => undefined,
  wakeWorker: async () => undefined,
  releaseHeld: async () => undefined,
  failureOf: async () => undefined,
  storeAnswers: async () => true,
  onFree: () => undefined,
};
