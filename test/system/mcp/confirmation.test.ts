/** The user is asked before a destructive tool runs: by a real MCP client, over both transports. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, test } from "vitest";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import {
  createHeardLog,
  createPipes,
  createPipeTransport,
  INITIALIZE,
  post,
  type RpcAnswer,
  toolCall,
} from "../../harness/mcp/mcp.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ASKS = { gateway: { confirmsDestructive: true } };
const MENU = { name: "execute-menu-item", arguments: { MenuItemPath: "Assets/Refresh", timeout: 30 } };

interface Asked {
  message: string;
  /** Aborted when the gateway takes its question back. */
  signal: AbortSignal;
  answer(action: ElicitResult["action"]): void;
}

/** A client whose user answers when the test says so. */
async function connect(system: System, transport: "stdio" | "HTTP", canAsk = true) {
  const log = createHeardLog();
  const deps = { gateway: system.gateway, log, version: "0.0.0" };
  const options = { listDebounceMs: 10, progress: { everyMs: 20, minMs: 1 } };
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: canAsk ? { elicitation: {} } : {} },
  );
  const waiting: ((asked: Asked) => void)[] = [];
  const unseen: Asked[] = [];
  if (canAsk) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }: ElicitRequest, { signal }) => {
      return new Promise<ElicitResult>((resolve) => {
        const asked: Asked = { message: params.message, signal, answer: (action) => resolve({ action }) };
        const next = waiting.shift();
        if (next) next(asked);
        else unseen.push(asked);
      });
    });
  }
  if (transport === "HTTP") {
    const http = await createHttpGateway(deps, { host: "127.0.0.1", port: 0, ...options });
    closers.push(http.close);
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)));
    closers.push(() => client.close());
  } else {
    const pipes = createPipes();
    const service = serveStdio(deps, pipes, options);
    closers.push(service.close);
    await client.connect(createPipeTransport(pipes));
  }
  const call = async (
    params: { name: string; arguments: Record<string, unknown> },
    wait: { signal?: AbortSignal; onprogress?: (note: { message?: string | undefined }) => void } = {},
  ): Promise<Answer> =>
    (await client.callTool(params, undefined, wait)).structuredContent as unknown as Answer;
  return {
    log,
    call,
    /** The next question that the user is shown. */
    asked: () =>
      new Promise<Asked>((resolve) => {
        const asked = unseen.shift();
        if (asked) resolve(asked);
        else waiting.push(resolve);
      }),
    unseen,
  };
}

const operations = async ({ broker }: System): Promise<number> => (await broker.list("local", 50)).length;

describe.each(["stdio", "HTTP"] as const)("over %s", (transport) => {
  test("nothing runs before the user says yes, and then it runs once", async () => {
    const system = await start(ASKS);
    const { call, asked } = await connect(system, transport);
    const answer = call(MENU);
    const question = await asked();
    expect(question.message).toContain(
      `Run execute-menu-item in the Unity Editor ${system.editor.editorId}?`,
    );
    expect(question.message).toContain('{"MenuItemPath":"Assets/Refresh"}');
    expect(await operations(system)).toBe(0);
    question.answer("accept");
    expect(await answer).toMatchObject({ status: "completed", result: { MenuItemPath: "Assets/Refresh" } });
    expect(await operations(system)).toBe(1);
  });

  test.each(["decline", "cancel"] as const)("%s: nothing runs, and the caller is told", async (action) => {
    const system = await start(ASKS);
    const { call, asked } = await connect(system, transport);
    const answer = call(MENU);
    (await asked()).answer(action);
    expect(await answer).toMatchObject({ status: "error", error_code: "NOT_CONFIRMED" });
    expect(await operations(system)).toBe(0);
  });

  test("the client's other calls run while the user thinks", async () => {
    const system = await start(ASKS);
    const { call, asked } = await connect(system, transport);
    const answer = call(MENU);
    const question = await asked();
    expect(await call({ name: "work", arguments: { Name: "meanwhile", timeout: 30 } })).toMatchObject({
      status: "completed",
    });
    question.answer("accept");
    expect(await answer).toMatchObject({ status: "completed" });
  });

  test("a call that is given up takes its question along, and a late yes runs nothing", async () => {
    const system = await start(ASKS);
    const { call, asked } = await connect(system, transport);
    const wait = new AbortController();
    const answer = call(MENU, { signal: wait.signal });
    const question = await asked();
    wait.abort();
    await expect(answer).rejects.toThrow();
    if (!question.signal.aborted)
      await new Promise((taken) => question.signal.addEventListener("abort", taken, { once: true }));
    question.answer("accept");
    expect(await call({ name: "work", arguments: { Name: "after", timeout: 30 } })).toMatchObject({
      status: "completed",
    });
    expect(await operations(system)).toBe(1);
  });

  test("progress tells a client that its user is waited for, so that its own wait does not end", async () => {
    const system = await start(ASKS);
    const { call, asked } = await connect(system, transport);
    let reported: (message: string) => void = () => undefined;
    const twice = (async () => {
      for (let count = 0; count < 2; count += 1) {
        expect(
          await new Promise<string>((resolve) => {
            reported = resolve;
          }),
        ).toMatch(/^waiting for the user's answer/);
      }
    })();
    const answer = call(MENU, { onprogress: ({ message }) => reported(message ?? "") });
    const question = await asked();
    await twice;
    question.answer("accept");
    expect(await answer).toMatchObject({ status: "completed" });
  });
});

describe("nobody is asked", () => {
  test("twice for what is under way or has an answer already", async () => {
    const system = await start(ASKS);
    const one = await connect(system, "HTTP");
    const two = await connect(system, "HTTP");
    const args = { MenuItemPath: "Assets/Refresh", timeout: 30, idempotency_key: "refresh" };
    const held = { name: "execute-menu-item", arguments: args };
    const first = one.call(held);
    const second = two.call(held);
    const asked = await Promise.all([one.asked(), two.asked()]);
    for (const question of asked) question.answer("accept");
    const answers = await Promise.all([first, second]);
    expect(answers[0]?.log_id).toBe(answers[1]?.log_id);
    expect(await operations(system)).toBe(1);
    expect(await two.call(held)).toMatchObject({ deduplicated: true, log_id: answers[0]?.log_id });
    expect([...one.unseen, ...two.unseen]).toEqual([]);
  });

  test("where the client cannot ask, for what destroys nothing, and where the setting is off", async () => {
    const system = await start(ASKS);
    const silent = await connect(system, "stdio", false);
    expect(await silent.call(MENU)).toMatchObject({ status: "completed" });
    const asking = await connect(system, "stdio");
    expect(await asking.call({ name: "work", arguments: { Name: "a", timeout: 30 } })).toMatchObject({
      status: "completed",
    });
    const off = await connect(
      { ...system, gateway: await system.addGateway({ confirmsDestructive: false }) },
      "stdio",
    );
    expect(await off.call({ ...MENU, arguments: { ...MENU.arguments, idempotency_key: "b" } })).toMatchObject(
      {
        status: "completed",
      },
    );
    expect([...asking.unseen, ...off.unseen]).toEqual([]);
  });
});

test("a yes to one question answers no other gateway's question in the same session", async () => {
  const system = await start(ASKS);
  const gateways = [system.gateway, await system.addGateway()];
  const urls: string[] = [];
  for (const gateway of gateways) {
    const http = await createHttpGateway(
      { gateway, log: createHeardLog(), version: "0" },
      { host: "127.0.0.1", port: 0 },
    );
    closers.push(http.close);
    urls.push(http.url);
  }
  const [one = "", two = ""] = urls;
  const client = { ...INITIALIZE.params, capabilities: { elicitation: {} } };
  const session = (await post(one, { ...INITIALIZE, params: client })).sessionId ?? "";
  /** Calls, and answers the question's id while the call is open. */
  const ask = async (url: string, id: number, path: string) => {
    const args = { MenuItemPath: path, timeout: 30 };
    const stop = new AbortController();
    const response = await fetch(url, {
      ...{ method: "POST", signal: stop.signal, body: JSON.stringify(toolCall(id, MENU.name, args)) },
      headers: {
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
        "mcp-session-id": session,
      },
    });
    closers.push(() => stop.abort());
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      heard += value ?? "";
      for (const [, data = ""] of heard.matchAll(/^data: (.+)$/gm)) {
        const message = JSON.parse(data) as RpcAnswer;
        if (message.method === "elicitation/create") return message.id;
      }
      if (done) throw new Error(`nothing is asked: ${heard}`);
    }
  };
  const first = await ask(one, 1, "Assets/Refresh");
  const second = await ask(two, 2, "File/Save Project");
  const accept = (url: string, id: unknown) =>
    post(url, { jsonrpc: "2.0", id, result: { action: "accept" } }, { session });
  await accept(two, first);
  await post(two, { jsonrpc: "2.0", id: "settled", method: "ping" }, { session });
  expect(await operations(system)).toBe(0);
  await accept(two, second);
  await eventually(async () => (await operations(system)) === 1, "the other one's yes is heard");
});

test("the user sees all of the arguments, or first that not all are shown", async () => {
  const system = await start(ASKS);
  const { call, asked } = await connect(system, "stdio");
  const questionOf = async (MenuItemPath: string): Promise<string> => {
    const answer = call({ ...MENU, arguments: { MenuItemPath } });
    const question = await asked();
    question.answer("decline");
    expect(await answer).toMatchObject({ error_code: "NOT_CONFIRMED" });
    return question.message;
  };
  const middle = await questionOf(`${"x".repeat(1_500)}File/Delete All${"z".repeat(1_500)}`);
  expect(middle).toContain("File/Delete All");
  expect(middle).not.toContain("NOT SHOWN");
  expect(await questionOf("File/\u200bDelete All")).toContain("File/\\u200bDelete All");
  const long = await questionOf(`${"x".repeat(20_000)}File/Delete All`);
  expect(long).toMatch(/^NOT SHOWN: \d+ of \d+ characters/);
  expect(long).toContain('File/Delete All"}');
  expect(long.length).toBeLessThan(8_500);
});

test("the user who said yes to one Editor is asked again when the call would go to another", async () => {
  const system = await start(ASKS);
  const { call, asked } = await connect(system, "stdio");
  const answer = call(MENU);
  const first = await asked();
  expect(first.message).toContain(system.editor.editorId);
  const second = await system.addEditor();
  await system.present(second);
  await system.editor.close();
  await system.away(system.editor);
  // Until then it may just be reconnecting.
  const isOwned = (): Promise<number> => system.hand.exists(keys.lease(system.editor.editorId));
  await eventually(async () => (await isOwned()) === 0, "its worker has left it");
  first.answer("accept");
  const again = await asked();
  expect(again.message).toContain(second.editorId);
  again.answer("accept");
  expect(await answer).toMatchObject({ status: "completed", editor: second.editorId });
  expect(await operations(system)).toBe(1);
});
