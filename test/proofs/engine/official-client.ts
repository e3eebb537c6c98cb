/** The official MCP client, as the other clients of tests are asked. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import { type CallAnswer, type TestClient, TIMED_OUT } from "../../harness/processes/process-clients.js";

/** Longer than any wait that a test asks for: tests lose patience themselves. */
const TIMEOUT_MS = 120_000;

export async function openOfficialClient(
  transport: Transport,
  kind: TestClient["transport"],
): Promise<TestClient> {
  const client = new Client({ name: "official", version: "1" });
  // What it says of broken connections it says again by rejecting.
  client.onerror = () => undefined;
  const underWay = new Map<number, AbortController>();
  let lastId = 0;

  const ask: TestClient["ask"] = (name, args) => {
    lastId += 1;
    const id = lastId;
    const given = new AbortController();
    underWay.set(id, given);
    const options = { timeout: TIMEOUT_MS, signal: given.signal };
    const answer = client
      .callTool({ name, arguments: args }, undefined, options)
      .then((result) => answerIn<CallAnswer>(result))
      .finally(() => underWay.delete(id));
    answer.catch(() => undefined);
    const hangUp = (): void => given.abort(TIMED_OUT);
    return { id, answer, sent: Promise.resolve(), hangUp };
  };

  await client.connect(transport).catch(async (error: Error) => {
    await client.close();
    throw error;
  });
  return {
    transport: kind,
    ask,
    call: (tool, args) => ask(tool, args).answer,
    request: (method, params) => client.request({ method, params }, ResultSchema),
    async giveUp(id, reason = TIMED_OUT) {
      const open = underWay.get(id);
      if (open) open.abort(reason);
      else
        await client.notification({ method: "notifications/cancelled", params: { requestId: id, reason } });
    },
    nextId: () => lastId + 1,
    close: () => client.close(),
  };
}
