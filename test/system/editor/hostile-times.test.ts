/** An Editor that reports an absurd duration: its caller is answered, and the ends of others are written as before. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { startHostileEditor } from "../../harness/editor/hostile-editor.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("a duration of 10^300 ms", async () => {
  const executionMs = 1e300;
  const system = await start();
  const { client, editor, hand } = system;
  const liar = await startHostileEditor({
    methods: {
      "operation/submit": ({ params, wire }) => {
        const outcome = {
          status: "completed",
          startedAt: 1,
          endedAt: 2,
          executionMs,
          result: { Done: "lie" },
        };
        const { operationId } = params;
        setImmediate(() => wire.notify("operation/finished", { operationId, outcome, ledgerSeq: 1 }));
        return { state: "accepted", ledgerSeq: 1 };
      },
    },
  });
  try {
    const endpoint = JSON.stringify(liar.endpoint());
    writeFileSync(join(dirname(system.sentFolder), "liar.json"), endpoint, { mode: 0o600 });
    await system.present({ editorId: liar.editorId });
    const ann = client();
    const calls = await Promise.all(
      Array.from({ length: 3 }, async (_, at) => {
        const { record } = await ann.submit("work", { Name: `lie ${at}` }, { editor: liar.editorId });
        return (await ann.outcome(record.logId)).record.state;
      }),
    );
    expect(calls).toEqual(["completed", "completed", "completed"]);
    const { record } = await ann.submit("work", { Name: "honest" }, { editor: editor.editorId });
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    // The script that ends an operation adds both: what it cannot add would keep it from its message and the job's end.
    expect(await hand.llen("{ujb}:durations:work")).toBe(4);
    expect(Number(await hand.hget("{ujb}:tally", "executed:ms"))).toBeLessThan(1e12);
  } finally {
    await liar.close();
  }
});
