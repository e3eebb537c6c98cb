/** How long a call waits, and may wait, are settings: every text that names them follows, and no wait outlasts its client. */
import { expect, test } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { useAssistants } from "../../harness/mcp/assistant.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useAssistants();

test("the instructions, the tools and the advice of an answer name the settings", async () => {
  const waits = { standardSeconds: 0.25, mostSeconds: 7 };
  const system = await start({ gateway: { answers: "short", waits } });
  const { client, ask } = await connect(system);
  expect(client.getInstructions()).toContain("(default 0.25, at most 7)");
  expect(client.getInstructions()).not.toContain("50");
  const { tools } = await client.listTools();
  const saying = tools.flatMap(({ name, inputSchema }) => {
    const { timeout } = (inputSchema.properties ?? {}) as { timeout?: { description: string } };
    return timeout ? [[name, timeout.description] as const] : [];
  });
  expect(saying.length).toBeGreaterThan(10);
  for (const [name, text] of saying)
    expect([name, text]).toEqual([
      name,
      `Seconds to wait (default ${name === "get_operation_result" ? 5 : 0.25}, max 7).`,
    ]);
  // Without a timeout the call waits as the setting says, and the answer how long that was.
  const { answer } = await ask("work", { Name: "a", Hold: true });
  expect(answer.message).toContain("The wait of 0.25 s ended");
  expect(answer.message).toContain("(log_id, wait: true, timeout: 7)");
  const { answer: cut } = await ask("work", { Name: "a", Hold: true, timeout: 7.5 }).finally(() => undefined);
  expect(cut.message).toContain("The wait was cut from 7.5 to 7 seconds.");
  system.bench.finish("a");
  await eventually(
    async () => (await ask("get_operation_status", { log_id: answer.log_id })).answer.status === "completed",
    "it has ended",
  );
});
