/** What a call is, and which operation it finds: hash, target, join. */
import type { HttpClient } from "../../../harness/processes/process-clients.js";
import type { World } from "../../../harness/processes/process-world.js";
import { until } from "../../../harness/processes/processes.js";
import { schedule } from "../schedule.js";
import { counted, type Verdict } from "../verdict.js";

const BUILD = { BuildTarget: "WebGL", OutputPath: "Out", SimulatedSeconds: 0.3 };

const otherTimeout = schedule("a retry waits longer than the call", async (stage) => {
  const intent = stage.intent(0.3);
  const client = await stage.http();
  await intent.call(client, 0.05);
  await intent.untilTold(client);
  return undefined;
});

const otherOrder = schedule("a retry names its arguments in another order", async (stage) => {
  const client = await stage.http();
  await client.call("build-player", { ...BUILD, timeout: 20 });
  const reversed = Object.fromEntries(Object.entries(BUILD).reverse());
  await (await stage.http()).call("build-player", { ...reversed, timeout: 20 });
  return executionsOf(stage.world, "build-player", 1);
});

const largeIds = schedule("two calls with ids beyond 2^53", async ({ world, http }) => {
  const client = await http();
  // Both are in flight at once: the second may find the first.
  await world.editor.do({ do: "stallMainThread", ms: 2500 });
  const answers = await Promise.all(
    ["9007199254740993", "9007199254740992"].map((id) => setRaw(world, client, id)),
  );
  const reported = answers.filter((answer) => /"status\\*":\\*"completed/.test(answer)).length;
  return executionsOf(world, "set-property", reported);
});

/** Written as text: no number of JavaScript can hold such an id. */
async function setRaw({ url }: World, { sessionId, nextId }: HttpClient, value: string): Promise<string> {
  const args = `{"Path":"/Root/Object.id","Value":${value},"timeout":20}`;
  const response = await fetch(url(), {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": sessionId,
      "mcp-protocol-version": "2025-06-18",
    },
    body: `{"jsonrpc":"2.0","id":${nextId()},"method":"tools/call","params":{"name":"set-property","arguments":${args}}}`,
  });
  return response.text();
}

const editorDropped = schedule("a retry that leaves the Editor out", async (stage) => {
  const intent = stage.intent(0.2);
  const client = await stage.http();
  const { editorId } = stage.world.editor;
  await intent.untilTold(client, { editor: editorId });
  await intent.untilTold(client);
  return undefined;
});

const setAgain = schedule("set A, set B, set A again, with no wait", async (stage) => {
  const { world } = stage;
  const client = await stage.http();
  await world.editor.do({ do: "stallMainThread", ms: 2500 });
  for (const Value of ["A", "B", "A"]) await client.call("set-property", { Path: "/x", Value, timeout: 0 });
  await nothingOpen(world);
  return executionsOf(world, "set-property", 3);
});

export async function nothingOpen(world: World): Promise<void> {
  const key = `{ujb}:open:${world.editor.editorId}`;
  await until("no operation is open", async () => (await world.hand.zcard(key)) === 0);
}

export async function executionsOf({ editor }: World, what: string, intents: number): Promise<Verdict> {
  return counted((await editor.executions(what)).length, intents);
}

export const CALLS = [otherTimeout, otherOrder, largeIds, editorDropped, setAgain];
