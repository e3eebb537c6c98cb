/** Asynchronous calls over HTTP: answered at once, told of as they go, read by their log_id. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../../harness/eventually.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

const Answer = z.object({ content: z.array(z.object({ text: z.string() })) });
const Told = z.object({
  method: z.enum(["tools/progress", "tools/result"]),
  params: z.looseObject({ log_id: z.string() }),
});
type Heard = z.output<typeof Told>;

const HELD = { name: "work", arguments: { Name: "a", Hold: true } };

async function ask(client: Client, method: string, params: object): Promise<Record<string, unknown>> {
  const { content } = await client.request({ method, params } as never, Answer);
  return JSON.parse(content[0]?.text ?? "") as Record<string, unknown>;
}

function listening(client: Client): Heard[] {
  const heard: Heard[] = [];
  client.fallbackNotificationHandler = async (notification) => {
    const told = Told.safeParse(notification);
    if (told.success) heard.push(told.data);
  };
  return heard;
}

const of = (heard: Heard[], method: Heard["method"]) =>
  heard.filter((each) => each.method === method).map(({ params }) => params);

test("a call is answered at once, told of as it goes, and its result once", async () => {
  const { tokens, connect, system } = await open();
  const client = await connect(await tokens.create("ann"));
  expect(client.getServerCapabilities()?.experimental).toHaveProperty("asyncToolCalls");
  const heard = listening(client);
  const answer = await ask(client, "tools/call_async", { ...HELD, enable_progress: true });
  expect(answer).toMatchObject({ status: "timeout", log_id: expect.any(String) });
  await system.bench.begins("a");
  system.bench.report("a", { progress: 3, total: 10, message: "third of ten" });
  await eventually(
    () => of(heard, "tools/progress").some(({ progress }) => progress === 3),
    "its progress was told",
  );
  system.bench.finish("a");
  await eventually(() => of(heard, "tools/result").length > 0, "its result was told");
  const named = { request_id: expect.any(Number), log_id: answer.log_id };
  for (const params of of(heard, "tools/progress")) expect(params).toMatchObject(named);
  expect(of(heard, "tools/result")).toMatchObject([{ ...named, status: "completed", result: { Done: "a" } }]);
  // A notification is no delivery: the same call finds the outcome, and says that it is not new.
  expect(await ask(client, "tools/call_async", HELD)).toMatchObject({ deduplicated: true });
  expect(system.executions("a")).toBe(1);
});

test("a call that joined another is told so with the result", async () => {
  const { tokens, connect, system } = await open();
  const token = await tokens.create("ann");
  const [first, second] = [await connect(token), await connect(token)];
  await ask(first, "tools/call_async", HELD);
  await system.bench.begins("a");
  const heard = listening(second);
  const joined = await ask(second, "tools/call_async", { ...HELD, enable_progress: true });
  expect(joined).toMatchObject({ status: "timeout", deduplicated: true });
  system.bench.finish("a");
  await eventually(() => of(heard, "tools/result").length > 0, "its result was told");
  expect(of(heard, "tools/result")).toMatchObject([{ status: "completed", deduplicated: true }]);
  const { log_id } = joined;
  expect(await ask(first, "tools/result", { log_id })).not.toHaveProperty("deduplicated");
  expect(await ask(second, "tools/result", { log_id })).toMatchObject({
    ...{ status: "completed", deduplicated: true, result: { Done: "a" } },
  });
});

test("who did not ask is not told; state and result are read by the log_id, by its principal only", async () => {
  const { tokens, connect, system } = await open();
  const [ann, bob] = [await connect(await tokens.create("ann")), await connect(await tokens.create("bob"))];
  const heard = listening(ann);
  const { log_id } = await ask(ann, "tools/call_async", HELD);
  await system.bench.begins("a");
  expect(await ask(ann, "tools/progress", { log_id })).toMatchObject({ status: "running" });
  expect(await ask(ann, "tools/result", { log_id })).toMatchObject({ status: "running" });
  system.bench.finish("a");
  const read = await ask(ann, "tools/result", { log_id, timeout: 30 });
  expect(read).toMatchObject({ status: "completed", result: { Done: "a" } });
  for (const method of ["tools/progress", "tools/result"])
    expect(await ask(bob, method, { log_id })).toMatchObject({ status: "not_found" });
  expect(heard).toEqual([]);
});

test("a call that is refused is told why, and a session that ends is told nothing more", async () => {
  const { tokens, connect, system } = await open();
  const client = await connect(await tokens.create("ann"));
  const heard = listening(client);
  const wrong = { name: "work", arguments: { Name: 1 }, enable_progress: true };
  expect(await ask(client, "tools/call_async", wrong)).toMatchObject({ error_code: "INVALID_ARGUMENTS" });
  await expect(ask(client, "tools/call_async", { name: "" })).rejects.toThrow();
  await ask(client, "tools/call_async", { ...HELD, enable_progress: true });
  await system.bench.begins("a");
  await client.close();
  system.bench.finish("a");
  expect(of(heard, "tools/result")).toEqual([]);
});
