/** What brings each refusal of a call about. */
import { keys } from "../../../src/shared/store/keys.js";
import type { Asked, RestClient, Said } from "../../harness/rest/rest-client.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { eventually, type System, type SystemOptions } from "../../harness/system/system.js";

export interface Stage {
  system: System;
  /** May do everything. */
  ann: RestClient;
  /** A principal with these rights. */
  as(name: string, grants: object): Promise<RestClient>;
  flush(): Promise<void>;
}

/** Sends a call, by whichever route the test is about. */
type Call = (client: RestClient, body: unknown, asked?: Asked) => Promise<Said>;

export interface Refusal {
  code: string;
  system?: Partial<SystemOptions>;
  provoke(stage: Stage, call: Call): Promise<Said>;
}

const WORK = { tool: "work", arguments: { Name: "a" } };
const HELD = { tool: "work", arguments: { Name: "block", Hold: true }, timeout: 0 };

/** Work that holds the main lane. */
async function block({ ann, system }: Stage): Promise<void> {
  await ann.post("/operations", HELD);
  await system.bench.begins("block");
}

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

export const REFUSALS: Refusal[] = [
  {
    code: "INVALID_ARGUMENTS",
    provoke: ({ ann }, call) => call(ann, { tool: "work", arguments: { Nmae: "a" } }),
  },
  {
    code: "INVALID_TIMEOUT",
    provoke: ({ ann }, call) => call(ann, { ...WORK, arguments: { Name: "a", timeout: "soon" } }),
  },
  {
    code: "INTEGER_TOO_LARGE",
    provoke: ({ ann }, call) => call(ann, '{"tool":"work","arguments":{"Name":"a","Data":9007199254740993}}'),
  },
  {
    code: "ARGUMENTS_TOO_DEEP",
    provoke: ({ ann }, call) => call(ann, `{"tool":"work","arguments":{"Name":"a","Data":${deep(300)}}}`),
  },
  {
    code: "ARGUMENTS_TOO_LARGE",
    provoke: ({ ann }, call) =>
      call(ann, { tool: "work", arguments: { Name: "a", Data: "x".repeat(1_100_000) } }),
  },
  {
    code: "FORBIDDEN",
    provoke: async ({ as }, call) => call(await as("reader", { role: "read" }), WORK),
  },
  { code: "UNKNOWN_TOOL", provoke: ({ ann }, call) => call(ann, { tool: "wrok" }) },
  { code: "EDITOR_UNKNOWN", provoke: ({ ann }, call) => call(ann, { ...WORK, editor: "nowhere" }) },
  {
    code: "EDITOR_AMBIGUOUS",
    async provoke({ ann, system }, call) {
      await system.present(await system.addEditor());
      return call(ann, WORK);
    },
  },
  {
    code: "NO_EDITOR",
    provoke: async ({ as }, call) => call(await as("blind", { editors: { allow: ["none*"] } }), WORK),
  },
  {
    code: "EDITOR_AWAY",
    async provoke({ ann, system }, call) {
      await system.editor.close();
      await system.away(system.editor);
      // As long as its worker has its lease it may be about to come back.
      const isOwned = async () => (await system.store.owners.of([system.editor.editorId])).length > 0;
      await eventually(async () => !(await isOwned()), "nobody waits for it");
      return call(ann, { ...WORK, if_away: "refuse" });
    },
  },
  {
    code: "EDITORS_NOT_BACK",
    system: { gateway: { backMs: 1 } },
    async provoke({ ann, system, flush }, call) {
      const second = await system.addEditor();
      await system.present(second);
      for (const { editorId } of [system.editor, second])
        await ann.call("work", { Name: editorId }, { editor: editorId });
      await system.editor.faults.crash();
      await system.away(system.editor);
      await flush();
      await system.present(second);
      return call(ann, WORK);
    },
  },
  {
    code: "IDEMPOTENCY_CONFLICT",
    async provoke({ ann }, call) {
      const keyed = { headers: { "idempotency-key": '"one"' } };
      await ann.post("/operations", WORK, keyed);
      return call(ann, { ...WORK, arguments: { Name: "b" } }, keyed);
    },
  },
  {
    code: "RECORD_LOST",
    async provoke({ ann, system }, call) {
      const second = await system.addEditor();
      await system.present(second);
      const said = await ann.post("/operations", { ...WORK, editor: second.editorId });
      await second.faults.crash();
      await system.away(second);
      await forget(system, second.editorId, true);
      await system.hand.del(keys.operation(String(said.body.log_id)));
      return call(ann, WORK);
    },
  },
  {
    code: "TOO_MANY_OPERATIONS",
    system: { maxQueued: 1 },
    async provoke(stage, call) {
      await block(stage);
      await stage.ann.post("/operations", { ...WORK, timeout: 0 });
      const refused = await call(stage.ann, { ...WORK, arguments: { Name: "c" } });
      stage.system.bench.finish("block");
      return refused;
    },
  },
  {
    code: "QUEUE_FULL",
    system: { maxInQueue: 1 },
    async provoke(stage, call) {
      await block(stage);
      const bob = await stage.as("bob", {});
      await bob.post("/operations", { ...WORK, timeout: 0 });
      const refused = await call(stage.ann, { ...WORK, arguments: { Name: "c" } });
      stage.system.bench.finish("block");
      return refused;
    },
  },
  {
    code: "STORE_FULL",
    async provoke({ ann, system }, call) {
      await system.hand.config("SET", "maxmemory", "1");
      try {
        return await call(ann, { tool: "work", arguments: { Name: "full" } });
      } finally {
        await system.hand.config("SET", "maxmemory", "0");
        await eventually(async () => (await system.store.operations.now()) > 0, "the store takes writes");
      }
    },
  },
  {
    code: "STORE_UNFIT",
    async provoke({ ann, system: { hand, store } }, call) {
      const isFit = (): Promise<boolean> =>
        store.assertFit().then(
          () => true,
          () => false,
        );
      await hand.config("SET", "maxmemory-policy", "allkeys-lru");
      try {
        await hand.call("CLIENT", "KILL", "TYPE", "normal");
        await eventually(async () => !(await isFit()), "it is seen");
        return await call(ann, { tool: "work", arguments: { Name: "unfit" } });
      } finally {
        await hand.config("SET", "maxmemory-policy", "noeviction");
        await eventually(isFit, "it fits again");
      }
    },
  },
];
