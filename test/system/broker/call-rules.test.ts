/** The rules of the configuration act: on the class, the usual time, the wait and the progress of calls. */
import { expect, test } from "vitest";
import { createCallRules } from "../../../src/shared/tools/call-rules.js";
import { useAssistants } from "../../harness/mcp/assistant.js";
import { clientOf } from "../../harness/system/client.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useAssistants();

const rules = createCallRules({
  classes: { medium: { max_execution_time: 0.001 } },
  tools: { "work*": { timeout: 0.125 }, look: { execution_class: "long", max_execution_time: 77 } },
  editors: {},
});

test("a class's time decides when an operation is overdue, and when the Editor is asked to cancel it", async () => {
  const system = await start({ gateway: { rules, cancelOverdue: true } });
  const ann = system.client();
  const { record } = await ann.submit("work-cancellable", { Name: "a", Hold: true });
  expect(record).toMatchObject({ executionClass: "medium", maxExecutionMs: 1 });
  await ann.reaches(record.logId, "running");
  await system.gateway.sweep();
  expect((await ann.outcome(record.logId)).record.state).toBe("cancelled");
});

test("a tool's class and time are those of its rule, whatever it says; an Editor's rule is of that Editor", async () => {
  const system = await start({ gateway: { rules } });
  const ann = system.client();
  const { record } = await ann.submit("look", { Name: "a" });
  expect(record).toMatchObject({ executionClass: "long", maxExecutionMs: 77_000 });
  await ann.outcome(record.logId);
  const other = await system.addGateway({
    rules: createCallRules({
      classes: {},
      tools: {},
      editors: { [system.editor.editorId]: { max_execution_time: 5 }, "other@*": { max_execution_time: 6 } },
    }),
  });
  const ben = clientOf(other.broker, "ben", { id: "session of ben", transport: "http" });
  const second = await ben.submit("look", { Name: "b" });
  expect(second.record).toMatchObject({ executionClass: "medium", maxExecutionMs: 5_000 });
  await ben.outcome(second.record.logId);
});

test("a call waits as its tool's rule says, and its schema names that", async () => {
  const system = await start({ gateway: { answers: "short", rules } });
  const { client, ask } = await connect(system);
  const { tools } = await client.listTools();
  const timeoutOf = (tool: string): unknown =>
    tools.find(({ name }) => name === tool)?.inputSchema.properties?.timeout;
  expect(timeoutOf("work")).toMatchObject({ description: "Seconds to wait (default 0.125, max 50)." });
  expect(timeoutOf("look")).toMatchObject({ description: "Seconds to wait (default 1, max 50)." });
  const { answer } = await ask("work", { Name: "a", Hold: true });
  expect(answer.message).toContain("The wait of 0.125 s ended");
  system.bench.finish("a");
});

test("a waiting client is told that its call is alive as often as the rule says", async () => {
  const often = createCallRules({ classes: {}, tools: { work: { heartbeat_interval: 0.05 } }, editors: {} });
  const system = await start({ gateway: { rules: often } });
  const { client } = await connect(system);
  let notes = 0;
  const waiting = client.callTool(
    { name: "work", arguments: { Name: "a", Hold: true, timeout: 40 } },
    undefined,
    {
      onprogress: () => {
        notes += 1;
        // Nothing changes meanwhile; by default the second one would come after 5 s, and the ninth after 40.
        if (notes === 9) system.bench.finish("a");
      },
    },
  );
  expect(JSON.stringify(await waiting)).toContain("completed");
});
