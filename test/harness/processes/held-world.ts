/**
 * A broker as it is installed, and an Editor in the test's own process: what it runs lasts until the test ends it, so that no test
 * depends on how long something takes.
 */
import { join } from "node:path";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { keys } from "../../../src/shared/store/keys.js";
import { bridgeTool } from "../../../src/simulator/catalogue/bridge-tool.js";
import { createSimulatedEditor } from "../../../src/simulator/editor.js";
import { type SimulatedTool, toolFailure } from "../../../src/simulator/tool-definition.js";
import { compile, runTests } from "../../../src/simulator/tools/long.js";
import { executeMenuItem } from "../../../src/simulator/tools/short.js";
import { type GatewayMember, type Installation, openInstallation } from "./installation.js";
import { openHttpClient } from "./process-clients.js";
import { toolsAreKnown } from "./process-world.js";
import { until } from "./processes.js";

/** The next executions of one tool, or of one menu item. */
export interface Hold {
  /** Resolves once so many of them have begun. */
  begun(count?: number): Promise<void>;
  /** Ends them; what begins later is not held. */
  end(): void;
}

export interface HeldWorld extends Omit<Installation, "gateway" | "worker" | "close"> {
  readonly gateway: GatewayMember;
  /** `what`: a menu item's path, or a tool's name. */
  hold(what: string): Hold;
  /** Ends what a failed test has left held. */
  endHolds(): void;
  /** The log_ids of all executions that ever began of this, in order. */
  executions(what: string): string[];
  /** Resolves when so many calls have found this operation as theirs. */
  joined(logId: string, count: number): Promise<void>;
  /** Resolves when its outcome is stored. */
  ended(logId: string): Promise<void>;
  /** Resolves when some caller has read the outcome. */
  wasRead(logId: string): Promise<void>;
  /** Rejects when something did not end as it should, or is left. */
  close(): Promise<void>;
}

/** Simulated seconds are as many milliseconds. */
const TIME_SCALE = 0.001;

/** `create-game-object`, which knows nothing of an object but its name and its parent. */
function createsObjects(): SimulatedTool {
  const made = new Set<string>();
  return bridgeTool("create-game-object", {
    async run({ args }) {
      const [name, parent] = [args.text("Name"), args.text("Parent", "")];
      if (parent !== "" && !made.has(parent))
        throw toolFailure("game_object_not_found", `No open scene has an object ${parent}.`);
      made.add(name);
      return { name };
    },
  });
}

export async function openHeldWorld(env: Record<string, string> = {}): Promise<HeldWorld> {
  const installation = await openInstallation({ env });
  const { folder, hand, processes } = installation;
  const holds = new Map<string, { begin(): void; end(): void; over: Promise<void> }>();
  const held = (tool: SimulatedTool): SimulatedTool => ({
    ...tool,
    async run(call) {
      const hold = holds.get(tool.label?.(call.args) ?? tool.name);
      if (!hold) return tool.run(call);
      const stopped = new Promise<void>((resolve) => call.signal.addEventListener("abort", () => resolve()));
      hold.begin();
      await Promise.race([hold.over, stopped]);
      return tool.run(call);
    },
  });
  const editor = await createSimulatedEditor({
    projectPath: join(folder, "Project"),
    stateFolder: folder,
    port: 0,
    timeScale: TIME_SCALE,
    tools: [createsObjects(), compile, runTests, executeMenuItem].map(held),
  });
  const worker = await installation.worker("worker");
  const gateway = await installation.gateway("gateway");
  const record = async (logId: string): Promise<Partial<OperationRecord>> =>
    JSON.parse((await hand.hget(keys.operation(logId), "doc")) ?? "{}") as Partial<OperationRecord>;
  const duplicates = (logId: string): Promise<number> => hand.llen(keys.duplicates(logId));

  await worker.start();
  await gateway.start();
  const first = await openHttpClient(gateway.url);
  await toolsAreKnown(first);
  await first.close();

  return {
    ...installation,
    gateway,
    hold(what) {
      let count = 0;
      const waiting = new Set<() => void>();
      let end: () => void = () => undefined;
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const hold = {
        over,
        end() {
          holds.delete(what);
          end();
        },
        begin() {
          count += 1;
          for (const look of waiting) look();
        },
      };
      holds.set(what, hold);
      return {
        end: hold.end,
        begun: (wanted = 1) =>
          new Promise((resolve) => {
            const look = (): void => {
              if (count < wanted) return;
              waiting.delete(look);
              resolve();
            };
            waiting.add(look);
            look();
          }),
      };
    },
    endHolds() {
      for (const { end } of holds.values()) end();
    },
    executions: (what) =>
      editor
        .counter()
        .filter((line) => line.what === what)
        .map(({ operationId }) => operationId),
    joined: async (logId, count) =>
      void (await until(`${count} calls have joined`, async () => (await duplicates(logId)) >= count)),
    ended: async (logId) =>
      void (await until("it has ended", async () => (await record(logId)).state === "completed")),
    wasRead: async (logId) =>
      void (await until("its outcome was read", async () => {
        const { askers = {} } = await record(logId);
        return Object.values(askers).some(({ hasRead }) => hasRead);
      })),
    async close() {
      const faults = await installation.close();
      await editor.close();
      if (faults.length > 0)
        throw new Error(`left behind or ended badly:\n${faults.join("\n")}\n${processes.logs()}`);
    },
  };
}
