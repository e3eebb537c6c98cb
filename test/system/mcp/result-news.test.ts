/** Clients that subscribe to a result hear when its operation ends, and are offered the log_ids that there are. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { eventually, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

const uriOf = (logId: string): string => `unity-broker://results/${logId}`;

async function stage() {
  const { system, tokens, connect } = await open({ callsPerSecond: 1_000 });
  const enter = async (name: string) => {
    const client = await connect(await tokens.create(name));
    const heard: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      heard.push(params.uri);
    });
    return { client, heard };
  };
  const begin = async (client: Client, Name: string): Promise<string> => {
    const called = await client.callTool({ name: "work", arguments: { Name, Hold: true, timeout: 0 } });
    return (called.structuredContent as { log_id: string }).log_id;
  };
  return { ...system, enter, begin };
}

test("the end of an operation is told once to those who subscribed, and nothing of another principal's", async () => {
  const { bench, enter, begin } = await stage();
  const [ann, ben] = [await enter("ann"), await enter("ben")];
  const [one, two, three] = [
    await begin(ann.client, "one"),
    await begin(ann.client, "two"),
    await begin(ann.client, "three"),
  ];
  await ann.client.subscribeResource({ uri: uriOf(one) });
  await ann.client.subscribeResource({ uri: uriOf(one) });
  await ann.client.subscribeResource({ uri: uriOf(two) });
  await ann.client.subscribeResource({ uri: `unity-broker://operations/${three}` });
  await ann.client.unsubscribeResource({ uri: uriOf(two) });
  await ben.client.subscribeResource({ uri: uriOf(one) });
  await ben.client.subscribeResource({ uri: uriOf(three) });
  for (const name of ["one", "two", "three"]) {
    await bench.begins(name);
    bench.finish(name);
  }
  await eventually(() => ann.heard.length === 2, "both ends are told");
  const read = await ann.client.readResource({ uri: ann.heard[0] ?? "" });
  expect(read.contents).toHaveLength(1);
  await ann.client.subscribeResource({ uri: uriOf(one) });
  await ann.client.ping();
  await ben.client.ping();
  expect(ann.heard).toEqual([uriOf(one), `unity-broker://operations/${three}`]);
  expect(ben.heard).toEqual([]);
});

test("an address that is no result's is taken in silence; a hundred results are followed at once", async () => {
  const { enter, begin } = await stage();
  const { client } = await enter("ann");
  await client.subscribeResource({ uri: "test://watched-resource" });
  await client.unsubscribeResource({ uri: "test://watched-resource" });
  const logId = await begin(client, "one");
  for (let at = 0; at < 100; at += 1) await client.subscribeResource({ uri: `${uriOf(logId)}?offset=${at}` });
  await expect(client.subscribeResource({ uri: uriOf(logId) })).rejects.toThrow("At most 100 subscriptions");
  // Nobody's address, however it begins: nothing of it is kept.
  await client.subscribeResource({ uri: `${uriOf(logId)}?offset=1&${"x".repeat(1_000)}` });
  await client.unsubscribeResource({ uri: `${uriOf(logId)}?offset=7` });
  await client.subscribeResource({ uri: uriOf(logId) });
});

test("the log_ids of own results complete the template's address; of anything else there is nothing to offer", async () => {
  const { bench, editor, enter, begin } = await stage();
  const [ann, ben] = [await enter("ann"), await enter("ben")];
  const logId = await begin(ann.client, "one");
  await bench.begins("one");
  bench.finish("one");
  await ann.client.callTool({
    name: "get_operation_result",
    arguments: { log_id: logId, wait: true, timeout: 30 },
  });
  const { resourceTemplates } = await ann.client.listResourceTemplates();
  const uriOfTemplate = (name: string): string =>
    resourceTemplates.find((template) => template.name === name)?.uriTemplate ?? "";
  const offered = async (client: Client, value: string, name = "log_id", template = "result") => {
    const ref = { type: "ref/resource" as const, uri: uriOfTemplate(template) };
    return (await client.complete({ ref, argument: { name, value } })).completion.values;
  };
  expect(await offered(ann.client, "", "editor", "editor")).toEqual([editor.editorId]);
  for (const template of ["artifact", "operation"])
    expect(await offered(ann.client, "", "log_id", template)).toEqual([logId]);
  expect(await offered(ann.client, logId.slice(0, 4))).toEqual([logId]);
  expect(await offered(ann.client, "")).toEqual([logId]);
  expect(await offered(ann.client, "zzz")).toEqual([]);
  expect(await offered(ann.client, "", "offset")).toEqual([]);
  expect(await offered(ben.client, "")).toEqual([]);
  const offeredTo = async (name: string, argument: string, value: string) =>
    (
      await ann.client.complete({
        ref: { type: "ref/prompt" as const, name },
        argument: { name: argument, value },
      })
    ).completion.values;
  expect(await offeredTo("start_and_wait", "tool", "get-h")).toEqual(["get-hierarchy"]);
  expect(await offeredTo("run_again", "log_id", "")).toEqual([logId]);
  for (const [name, argument] of [
    ["start_and_wait", "log_id"],
    ["start_and_wait", "arguments"],
    ["none", "log_id"],
  ] as const)
    expect(await offeredTo(name, argument, "")).toEqual([]);
});

test("the prompts are listed and filled in; what is missing is refused as invalid parameters", async () => {
  const { enter } = await stage();
  const { client } = await enter("ann");
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain("run_again");
  const { messages } = await client.getPrompt({
    name: "run_again",
    arguments: { tool: "build-player", log_id: "0b6f" },
  });
  expect(JSON.stringify(messages)).toContain("build-player once more");
  await expect(client.getPrompt({ name: "run_again" })).rejects.toMatchObject({ code: -32602 });
  await expect(client.getPrompt({ name: "none" })).rejects.toMatchObject({ code: -32602 });
});
