/** What does not change in one exploration. */
import { completeTool, type Tool } from "../../../../src/shared/tools/tool.js";

export interface Facts {
  /** What is called: one that mutates, one that is repeatable, tests, a compilation, a read. */
  tool: "build" | "set" | "run-tests" | "compile" | "look";
  /**
   * How answers reach their callers: over stdio, where messages keep their order; over HTTP; over HTTP through a proxy, which may
   * take an answer that its client never gets.
   */
  way: "stdio" | "direct" | "proxied";
  /** Without sessions each request is a caller of its own. */
  hasSessions: boolean;
  /**
   * What a store goes back to: an older copy; or its last durable writes (AOF), alone or with the machine that the
   * owners run on.
   */
  rollback: "old copy" | "last seconds" | "power loss";
  /** Whether acknowledgements are played: they matter where Editors forget or the store is rebuilt from them. */
  acknowledges: boolean;
  /** Whether the store learns by heartbeats how far a journal is; by hellos it always does. */
  heartbeats: boolean;
  /** Calls are for a pool that all Editors are in. */
  isPool: boolean;
  /** Judged and played without the exceptions that docs/proofs/model.md calls not defended. */
  isStrict: boolean;
}

const toolOf = (name: Facts["tool"], annotations: object): Tool =>
  completeTool({ name, description: "", annotations } as never);

export const TOOLS: Readonly<Record<Facts["tool"], Tool>> = {
  build: toolOf("build", { readOnlyHint: false }),
  set: toolOf("set", { idempotentHint: true }),
  "run-tests": toolOf("run-tests", {}),
  compile: toolOf("compile", {}),
  look: toolOf("look", { readOnlyHint: true }),
};

export const effectOf = ({ tool }: Facts): Tool["effect"] => TOOLS[tool].effect;
