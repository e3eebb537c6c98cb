/** Revision 2026-07-28: a destructive call is answered with the question to its user, and sent again with the answer. */
import { afterEach, describe, expect, test } from "vitest";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { answerIn } from "../../harness/mcp/answer-in.js";
import { createHeardLog, createPipes, createPipeTransport, type RpcAnswer } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import {
  answerTo,
  askTool,
  connectStateless,
  type StatelessOptions,
  statelessClient,
} from "../../harness/mcp/stateless.js";
import { BEHIND_A_PROXY } from "../../harness/processes/process-clients.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { serve } = useMcpCallers();
const tokenGateway = useTokenGateway(start);
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ASKS = { gateway: { confirmsDestructive: true } };
const ITEM = "Assets/Refresh";
const TOOL = "execute-menu-item";
const MENU = { MenuItemPath: ITEM, timeout: 30 };
const CAN_ASK = { capabilities: { elicitation: {} } };

/** The call as it is sent again with what the user did. */
const answered = (asked: RpcAnswer, action: string) => ({
  params: { requestState: asked.result?.requestState, inputResponses: { confirm: { action, content: {} } } },
});

const askFirst = async (
  url: string,
  args: object = MENU,
  options: StatelessOptions = {},
): Promise<RpcAnswer> => {
  const asked = await askTool(url, TOOL, { ...args }, { ...CAN_ASK, ...options });
  expect(asked.result).toMatchObject({
    resultType: "input_required",
    inputRequests: { confirm: { method: "elicitation/create", params: { mode: "form" } } },
  });
  return asked;
};

describe.each(["HTTP", "stdio"] as const)("the SDK's client over %s", (transport) => {
  const open = async (action: "accept" | "decline") => {
    const system = await start(ASKS);
    const questions: string[] = [];
    const client =
      transport === "HTTP"
        ? await connectStateless((await serve(system.gateway)).url, { ...CAN_ASK })
        : statelessClient({ ...CAN_ASK });
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      return { action, content: {} };
    });
    if (transport === "stdio") {
      const pipes = createPipes();
      const deps = { gateway: system.gateway, log: createHeardLog(), version: "0.0.0" };
      closers.push(serveStdio(deps, pipes, {}).close);
      await client.connect(createPipeTransport(pipes) as never);
    }
    closers.push(() => client.close());
    const call = async (): Promise<Answer> =>
      answerIn(await client.callTool({ name: TOOL, arguments: MENU }));
    return { system, questions, call };
  };

  test("a yes runs it once", async () => {
    const { system, questions, call } = await open("accept");
    expect(await call()).toMatchObject({ status: "completed" });
    expect(questions).toEqual([expect.stringContaining(ITEM)]);
    expect(system.executions(ITEM)).toBe(1);
  });

  test("a no runs nothing", async () => {
    const { system, questions, call } = await open("decline");
    expect(await call()).toMatchObject({ status: "error", error_code: "NOT_CONFIRMED" });
    expect(questions).toHaveLength(1);
    expect(system.executions(ITEM)).toBe(0);
  });
});

describe("what the client carries", () => {
  test("counts once: the same yes finds an operation whose outcome may not be read, and is no yes to a second run", async () => {
    const system = await start(ASKS);
    const { url } = await serve(system.gateway);
    const asked = await askFirst(url);
    const yes = { ...CAN_ASK, ...answered(asked, "accept"), headers: BEHIND_A_PROXY };
    const first = answerIn<Answer>((await askTool(url, TOOL, MENU, { ...yes, id: 2 })).result);
    expect(first).toMatchObject({ status: "completed" });
    expect(first).not.toHaveProperty("deduplicated");
    const lost = answerIn<Answer>((await askTool(url, TOOL, MENU, { ...yes, id: 3 })).result);
    expect(lost).toMatchObject({ deduplicated: true, log_id: first.log_id });
    const forced = await askTool(url, TOOL, { ...MENU, force_new: first.log_id }, { ...yes, id: 4 });
    expect(forced.result).toMatchObject({ resultType: "input_required" });
    expect(system.executions(ITEM)).toBe(1);
    const again = { ...CAN_ASK, ...answered(forced, "accept") };
    const second = await askTool(url, TOOL, { ...MENU, force_new: first.log_id }, { ...again, id: 5 });
    expect(answerIn<Answer>(second.result)).toMatchObject({ status: "completed" });
    expect(system.executions(ITEM)).toBe(2);
  });

  test("is no yes to the same call once its outcome is read", async () => {
    const system = await start(ASKS);
    const { url } = await serve(system.gateway);
    const yes = { ...CAN_ASK, ...answered(await askFirst(url), "accept") };
    expect(await answerTo(url, TOOL, MENU, { ...yes, id: 2 })).toMatchObject({ status: "completed" });
    await askFirst(url, MENU, { ...yes, id: 3 });
    expect(system.executions(ITEM)).toBe(1);
  });

  test("counts for this call only", async () => {
    const system = await start(ASKS);
    const { url } = await serve(system.gateway);
    const asked = await askFirst(url);
    const other = { ...MENU, MenuItemPath: "Assets/Reimport All" };
    const yes = { ...CAN_ASK, ...answered(asked, "accept") };
    expect((await askTool(url, TOOL, other, yes)).result).toMatchObject({ resultType: "input_required" });
    expect(system.bench.begun).toEqual([]);
  });

  test("is no yes to the same call under another key, which would run beside it", async () => {
    const system = await start(ASKS);
    const { url } = await serve(system.gateway);
    const keyed = (key: string) => ({ ...MENU, idempotency_key: key });
    const yes = { ...CAN_ASK, ...answered(await askFirst(url, keyed("one")), "accept") };
    expect(answerIn<Answer>((await askTool(url, TOOL, keyed("one"), yes)).result).status).toBe("completed");
    for (const other of [keyed("two"), MENU])
      expect((await askTool(url, TOOL, other, yes)).result).toMatchObject({ resultType: "input_required" });
    expect(system.executions(ITEM)).toBe(1);
  });

  test("changed, invented, or another principal's is refused", async () => {
    const { bearer, url, system } = await tokenGateway.open({}, ASKS);
    const [one, two] = [await bearer("one"), await bearer("two")];
    const asked = await askFirst(url, MENU, { headers: one });
    const state = String(asked.result?.requestState);
    const sent = async (requestState: unknown, headers: Record<string, string>) =>
      askTool(url, TOOL, MENU, {
        ...CAN_ASK,
        headers,
        params: { requestState, inputResponses: { confirm: { action: "accept" } } },
      });
    const middle = Math.floor(state.length / 2);
    const changed = `${state.slice(0, middle)}${state[middle] === "A" ? "B" : "A"}${state.slice(middle + 1)}`;
    for (const [bad, headers] of [
      [changed, one],
      ["v1.e30.AA", one],
      [7, one],
      [state, two],
    ] as const) {
      expect((await sent(bad, headers)).error).toMatchObject({ code: -32602 });
    }
    expect(system.executions(ITEM)).toBe(0);
    expect(answerIn<Answer>((await sent(state, one)).result)).toMatchObject({ status: "completed" });
  });

  test("counts on every gateway of the store", async () => {
    const system = await start(ASKS);
    const [a, b] = [await serve(system.gateway), await serve(await system.addGateway(ASKS.gateway))];
    const asked = await askFirst(a.url);
    const done = await askTool(b.url, TOOL, MENU, { ...CAN_ASK, ...answered(asked, "accept") });
    expect(answerIn<Answer>(done.result)).toMatchObject({ status: "completed" });
  });
});

test("an answer without its state, or to another question, is none: the user is asked", async () => {
  const system = await start(ASKS);
  const { url } = await serve(system.gateway);
  const asked = await askFirst(url);
  for (const params of [
    { inputResponses: { confirm: { action: "accept" } } },
    { requestState: asked.result?.requestState, inputResponses: { other: { action: "accept" } } },
    { requestState: asked.result?.requestState, inputResponses: { confirm: 7 } },
  ]) {
    const next = await askTool(url, TOOL, MENU, { ...CAN_ASK, params });
    expect(next.result).toMatchObject({ resultType: "input_required" });
  }
  expect(system.executions(ITEM)).toBe(0);
});

test("a client that cannot ask is not asked", async () => {
  const system = await start(ASKS);
  const { url } = await serve(system.gateway);
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    const keyed = { ...MENU, idempotency_key: JSON.stringify(capabilities) };
    const done = await askTool(url, TOOL, keyed, { capabilities });
    expect(answerIn<Answer>(done.result)).toMatchObject({ status: "completed" });
  }
  expect(system.executions(ITEM)).toBe(2);
});
