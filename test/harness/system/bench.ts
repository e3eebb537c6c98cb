import type { ProgressReport } from "../../../src/simulator/progress-throttle.js";
import { parameters, type SimulatedTool } from "../../../src/simulator/tool-definition.js";

/**
 * Tools whose every step is in a test's hand, so that no test depends on how long something takes. They end at once,
 * or with `Hold: true` when the test says so.
 */
export interface Bench {
  readonly tools: SimulatedTool[];
  /** The names of the work that began, in order. */
  readonly begun: string[];
  /** Resolves when work of this name has begun. */
  begins(name: string): Promise<void>;
  report(name: string, report: ProgressReport): void;
  finish(name: string): void;
  fail(name: string, message: string): void;
}

interface Held {
  resolve(value: unknown): void;
  reject(error: Error): void;
  progress(report: ProgressReport): void;
}

export function createBench(): Bench {
  const begun: string[] = [];
  const held = new Map<string, Held>();
  const waiting: { name: string; resolve: () => void }[] = [];

  const tool = (name: string, traits: Partial<SimulatedTool>): SimulatedTool => ({
    name,
    description: "Work of a test.",
    inputSchema: parameters(
      {
        Name: { type: "string" },
        Hold: { type: "boolean", default: false },
        Data: { description: "Anything" },
      },
      ["Name"],
    ),
    effect: "mutating",
    lane: "main",
    resumable: false,
    cancellable: false,
    executionClass: "medium",
    blocksMainThread: true,
    label: (args) => args.text("Name"),
    async run({ args, signal, progress }) {
      const workName = args.text("Name");
      const result = { Done: workName };
      begun.push(workName);
      for (const waiter of waiting) if (waiter.name === workName) waiter.resolve();
      if (!args.flag("Hold", false)) return result;
      return new Promise((resolve, reject) => {
        held.set(workName, { resolve: () => resolve(result), reject, progress });
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      });
    },
    ...traits,
  });

  const heldAs = (name: string): Held => {
    const found = held.get(name);
    if (!found) throw new Error(`no work ${name} is held; begun: ${begun.join(", ")}`);
    return found;
  };

  return {
    tools: [
      tool("work", {}),
      tool("work-cancellable", { cancellable: true }),
      tool("work-resumable", { resumable: true }),
      tool("look", { effect: "read_only" }),
      tool("put", { effect: "idempotent" }),
    ],
    begun,
    begins: (name) =>
      begun.includes(name) ? Promise.resolve() : new Promise((resolve) => waiting.push({ name, resolve })),
    report: (name, report) => heldAs(name).progress(report),
    finish: (name) => heldAs(name).resolve(undefined),
    fail: (name, message) => heldAs(name).reject(new Error(message)),
  };
}
