/** An operation at each stage of its life, held there until the test lets it go on. */

import { jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { eventually } from "../eventually.js";
import type { Client } from "./client.js";
import type { System, SystemOptions } from "./system.js";

export interface Scene {
  system: System;
  ann: Client;
  /** Of the call `work {Name: "a"}`, with `Hold` where `args` says so. */
  record: OperationRecord;
  args: Record<string, unknown>;
  editors: SimulatedEditor[];
  /** Lets it go on to its end. */
  release(): unknown;
}

export type Stages = Record<string, () => Promise<Scene>>;

async function jobIs(system: System, record: OperationRecord, state: string): Promise<void> {
  const [main] = system.store.queues.lanesOf(record.editor);
  await eventually(async () => (await main?.getJobState(jobIdOf(record))) === state, `its job is ${state}`);
}

export function stagesWith(start: (options?: SystemOptions) => Promise<System>): Stages {
  return {
    async "waits in its lane"() {
      const system = await start();
      const ann = system.client();
      await ann.submit("work", { Name: "block", Hold: true });
      await system.bench.begins("block");
      const args = { Name: "a" };
      const { record } = await ann.submit("work", args);
      return {
        system,
        ann,
        record,
        args,
        editors: [system.editor],
        release: () => system.bench.finish("block"),
      };
    },

    async "is held back, its caller has enough running"() {
      const system = await start({ maxRunning: 1 });
      const second = await system.addEditor();
      await system.present(second);
      const ann = system.client();
      await ann.submit("work", { Name: "block", Hold: true }, { editor: system.editor.editorId });
      await system.bench.begins("block");
      const args = { Name: "a" };
      const { record } = await ann.submit("work", args, { editor: second.editorId });
      await jobIs(system, record, "delayed");
      return {
        system,
        ann,
        record,
        args,
        editors: [system.editor, second],
        release: () => system.bench.finish("block"),
      };
    },

    async "was taken, its Editor is away"() {
      const system = await start();
      await system.editor.faults.crash();
      await system.away(system.editor);
      const ann = system.client();
      const args = { Name: "a" };
      const { record } = await ann.submit("work", args);
      await jobIs(system, record, "active");
      return {
        system,
        ann,
        record,
        args,
        editors: [system.editor],
        release: () => system.editor.faults.restart(),
      };
    },

    async "was claimed, its frame is on the way"() {
      const system = await start({ worker: null });
      const { toEditor } = await system.addCabledWorker(system.editor);
      await system.present(system.editor);
      const ann = system.client();
      toEditor.before("operation/submit", toEditor.hold);
      const args = { Name: "a" };
      const { record } = await ann.submit("work", args);
      await ann.reaches(record.logId, "dispatched");
      return { system, ann, record, args, editors: [system.editor], release: toEditor.fix };
    },

    async runs() {
      const system = await start();
      const ann = system.client();
      const args = { Name: "a", Hold: true };
      const { record } = await ann.submit("work", args);
      await ann.reaches(record.logId, "running");
      return { system, ann, record, args, editors: [system.editor], release: () => system.bench.finish("a") };
    },

    async "has ended"() {
      const system = await start();
      const ann = system.client();
      const args = { Name: "a" };
      const { record } = await ann.submit("work", args);
      await ann.outcome(record.logId);
      await jobIs(system, record, "completed");
      return { system, ann, record, args, editors: [system.editor], release: () => undefined };
    },
  };
}
