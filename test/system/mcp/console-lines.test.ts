/** What the Console says while an operation runs, read by a real client in `_meta`: its principal's alone, and no model's. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

const AFTER = "unity-job-broker/log_after";
interface Read {
  lines: { type: string; message: string }[];
  next: number;
  missed?: number;
  more?: boolean;
}

async function result(client: Client, log_id: string, after: unknown, wait = false) {
  const answer = await client.callTool({
    name: "get_operation_result",
    arguments: { log_id, wait, timeout: 20 },
    _meta: { [AFTER]: after },
  });
  const [{ text }] = answer.content as [{ text: string }];
  return { log: answer._meta?.["unity-job-broker/log"] as Read | undefined, text };
}

test("its principal reads the lines once each, with the end the last ones; to another it does not exist", async () => {
  const { system, tokens, connect } = await open();
  const { bench, editor } = system;
  const [ann, bob] = [await connect(await tokens.create("ann")), await connect(await tokens.create("bob"))];
  const { tools } = await ann.listTools();
  expect(JSON.stringify(tools)).not.toContain("log_after");
  const called = await ann.callTool({ name: "work", arguments: { Name: "a", Hold: true } });
  const { log_id: id } = called.structuredContent as { log_id: string };
  await bench.begins("a");
  editor.log("Log", "one");
  editor.log("Error", "two");
  const first: Read["lines"] = [];
  let next = 0;
  while (first.length < 2) {
    const { log, text } = await result(ann, id, next);
    expect(text).not.toMatch(/\b(one|two)\b/);
    first.push(...(log?.lines ?? []));
    next = log?.next ?? 0;
  }
  expect(first).toEqual([
    { type: "log", message: "one" },
    { type: "error", message: "two" },
  ]);
  expect((await result(ann, id, 2)).log).toEqual({ lines: [], next: 2 });
  expect((await result(ann, id, 1)).log).toEqual({ lines: [{ type: "error", message: "two" }], next: 2 });
  for (const wrong of [-1, 1.5, "0", null]) expect((await result(ann, id, wrong)).log).toBeUndefined();

  // Another principal's operation is not found, and neither is a line of it.
  const strange = await result(bob, id, 0);
  expect(strange.log).toBeUndefined();
  expect(JSON.parse(strange.text)).toMatchObject({ status: "not_found" });

  const ending = result(ann, id, next, true);
  editor.log("Warning", "last");
  bench.finish("a");
  const { log, text } = await ending;
  expect(JSON.parse(text)).toMatchObject({ status: "completed" });
  expect(log).toEqual({ lines: [{ type: "warning", message: "last" }], next: 3 });
  expect((await result(bob, id, 0)).log).toBeUndefined();
});

test("a flood is bounded: what is left out is said, and a long line is cut", async () => {
  const { system, tokens, connect } = await open();
  const { bench, editor } = system;
  const ann = await connect(await tokens.create("ann"));
  const called = await ann.callTool({ name: "work", arguments: { Name: "a", Hold: true } });
  const { log_id: id } = called.structuredContent as { log_id: string };
  await bench.begins("a");
  for (let at = 0; at < 10_000; at += 1) editor.log("Log", `${at} ${"x".repeat(3_000)}`);
  bench.finish("a");
  const { log } = await result(ann, id, 0, true);
  expect(log?.lines).toHaveLength(51);
  expect(log?.lines[0]?.message).toMatch(/^0 x{1900,1998}$/);
  expect(log?.lines.at(-1)?.message).toBe("… and 9950 more lines; get-logs has the newest");
});
