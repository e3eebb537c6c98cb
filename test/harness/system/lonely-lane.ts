/** What a lane needs beside its queue, where a test gives it no store. */
import type { LaneDeps } from "../../../src/worker/execution/lane.js";

export const WITHOUT_STORE: Pick<LaneDeps, "failureOf" | "heldBack" | "refused" | "storeAnswers" | "onFree"> =
  {
    failureOf: async () => "failed",
    heldBack: async () => undefined,
    refused: async () => undefined,
    storeAnswers: async () => true,
    onFree: () => undefined,
  };
