/** What does not change in one exploration. */
import { completeTool, type Effect, type Tool } from "../../src/shared/tool.js";

export interface Facts {
  effect: Effect;
  /**
   * What a store goes back to: an older copy; or its last durable writes (AOF), alone or with the machine that the
   * owners run on.
   */
  rollback: "old copy" | "last seconds" | "power loss";
  /** Whether acknowledgements are played: they matter where Editors forget or the store is rebuilt from them. */
  acknowledges: boolean;
  /** Whether the store learns by heartbeats how far a journal is; by hellos it always does. */
  heartbeats: boolean;
  /** Judged and played without the exceptions that docs/model.md calls not defended. */
  isStrict: boolean;
}

const toolOf = (effect: Effect): Tool => {
  const annotations = { readOnlyHint: effect === "read_only", idempotentHint: effect !== "mutating" };
  return completeTool({ name: "build", description: "", annotations } as never);
};

/** The tool that is called, by its effect. */
export const TOOLS: Readonly<Record<Effect, Tool>> = {
  mutating: toolOf("mutating"),
  idempotent: toolOf("idempotent"),
  read_only: toolOf("read_only"),
};
