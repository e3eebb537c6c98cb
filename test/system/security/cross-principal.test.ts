/**
 * Every handle of an operation, in each of its states, tried by another principal: answered as one that never was, alone
 * and in the same moment as its owner, to whom the same handle is answered.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, expect, test } from "vitest";
import { STATE_RESOURCES } from "../../../src/gateway/mcp/requests/state-resources.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { type System, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

type Ask = (client: Client, id: string) => Promise<unknown>;
const tool =
  (name: string, args: (id: string) => Record<string, unknown>): Ask =>
  (client, id) =>
    client.callTool({ name, arguments: args(id) });
const fetching = (args: Record<string, unknown>): Ask =>
  tool("fetch_cached_response", (cache_id) => ({ cache_id, ...args }));
const reading =
  (more = ""): Ask =>
  (client, id) =>
    client.readResource({ uri: `unity-broker://results/${id}${more}` });

const WHILE_IT_LIVES: Record<string, Ask> = {
  get_operation_result: tool("get_operation_result", (log_id) => ({ log_id })),
  "… waiting": tool("get_operation_result", (log_id) => ({ log_id, wait: true, timeout: 0.05 })),
  get_operation_status: tool("get_operation_status", (log_id) => ({ log_id })),
  explain_operation: tool("explain_operation", (log_id) => ({ log_id })),
};
const OF_ITS_RESULT: Record<string, Ask> = {
  "a page": tool("get_operation_result", (log_id) => ({ log_id, page: 1 })),
  "a part": tool("get_operation_result", (log_id) => ({ log_id, jq: "." })),
  "fetch: a page": fetching({ action: "get_page" }),
  "fetch: all": fetching({ action: "get" }),
  "fetch: info": fetching({ action: "info" }),
  "fetch: jq": fetching({ action: "filter", jq_filter: "." }),
  "fetch: fields": fetching({ action: "filter", limit: 1 }),
  resource: reading(),
  "a piece of the resource": reading("?offset=0&length=4"),
};
/** The last: the owner's twin changes something. */
const AT_LAST: Record<string, Ask> = {
  cancel_operation: tool("cancel_operation", (log_id) => ({ log_id })),
};

const NOBODYS = "00000000-0000-4000-8000-000000000000";

/** What is answered, without what differs from call to call. */
async function answerTo(ask: Ask, client: Client, id: string): Promise<string> {
  const answer = await ask(client, id).catch((error: { code?: number; message: string }) => ({
    refused: error.code,
    message: error.message,
  }));
  return JSON.stringify(answer).replaceAll(id, "<id>");
}

interface Stage {
  system: System;
  ann: Client;
  ben: Client;
}

async function stage(): Promise<Stage> {
  const { system, tokens, connect } = await open();
  const as = async (name: string) => connect(await tokens.create(name));
  return { system, ann: await as("ann"), ben: await as("ben") };
}

const call = async (client: Client, args: Record<string, unknown>): Promise<Answer> =>
  (await client.callTool({ name: "work", arguments: args })).structuredContent as unknown as Answer;

/** Brings an operation of Ann's into a state, and tells its log_id. */
const STATES: Record<string, (stage: Stage) => Promise<string>> = {
  async waits({ system, ann }) {
    await call(ann, { Name: "before", Hold: true, timeout: 0 });
    await system.bench.begins("before");
    return (await call(ann, { Name: "a", timeout: 0 })).log_id ?? "";
  },
  async runs({ system, ann }) {
    const { log_id = "" } = await call(ann, { Name: "a", Hold: true, timeout: 0 });
    await system.bench.begins("a");
    return log_id;
  },
  completed: async ({ ann }) => (await call(ann, { Name: "a", timeout: 30 })).log_id ?? "",
  "completed and told twice": async ({ ann }) => {
    const { log_id = "" } = await call(ann, { Name: "a", timeout: 30 });
    await call(ann, { Name: "a", timeout: 30 });
    return log_id;
  },
  async cancelled({ system, ann }) {
    await call(ann, { Name: "before", Hold: true, timeout: 0 });
    await system.bench.begins("before");
    const { log_id = "" } = await call(ann, { Name: "a", timeout: 0 });
    await ann.callTool({ name: "cancel_operation", arguments: { log_id } });
    return log_id;
  },
};

let attempts = 0;
afterAll(() => {
  expect(attempts).toBeGreaterThanOrEqual(60);
});

test.each(Object.keys(STATES))(
  "an operation that %s: no handle of it is anything to another",
  async (state) => {
    const staged = await stage();
    const { system, ann, ben } = staged;
    const id = (await STATES[state]?.(staged)) ?? "";
    const hasResult = state.startsWith("completed");
    const handles = { ...WHILE_IT_LIVES, ...(hasResult ? OF_ITS_RESULT : {}), ...AT_LAST };
    for (const [handle, ask] of Object.entries(handles)) {
      const nobodys = await answerTo(ask, ben, NOBODYS);
      expect(await answerTo(ask, ben, id), `${handle}, alone`).toBe(nobodys);
      const [bens, anns, bensToo] = await Promise.all([
        answerTo(ask, ben, id),
        answerTo(ask, ann, id),
        answerTo(ask, ben, id),
      ]);
      expect([bens, bensToo], `${handle}, in the moment in which its owner asks`).toEqual([nobodys, nobodys]);
      expect(anns, `${handle}, its owner's twin`).not.toBe(nobodys);
      attempts += 3;
    }
    expect((await ben.callTool({ name: "list_operations" })).structuredContent).toMatchObject({
      operations: [],
    });
    expect((await ben.listResources()).resources).toEqual(STATE_RESOURCES);
    const held = state === "runs" ? ["a"] : hasResult ? [] : ["before"];
    for (const name of held) system.bench.finish(name);
    await ann.callTool({ name: "get_operation_result", arguments: { log_id: id, wait: true, timeout: 30 } });
  },
);
