/** What does not change in one exploration. */
import type { Effect } from "../../src/shared/tool.js";

export interface Facts {
  effect: Effect;
  /** What a rolled-back store is: its last durable writes (AOF), or a copy of any age. */
  rollback: "last seconds" | "old copy";
  /** Whether acknowledgements are played: they matter where Editors forget or the store is rebuilt from them. */
  acknowledges: boolean;
}
