/** What a broker notes of deliveries to a client behind a pipe, and how it knows a request that comes again. */
import { expect, test } from "vitest";
import type { ToolCall } from "../../../src/gateway/call-reader.js";
import { createExchanges, type Deliveries } from "../../../src/gateway/exchange.js";
import type { ServedGateway } from "../../../src/gateway/mcp/pipe/late-gateway.js";
import { openPipeSession, type PipeLine } from "../../../src/gateway/mcp/pipe/pipe-session.js";
import { UUID } from "../../../src/gateway/mcp/tools/broker-tool.js";
import { ANSWER_SETTINGS } from "../../../src/shared/answer-forms.js";
import type { PipeHello, ToBroker, ToPipe } from "../../../src/shared/pipe-frames.js";
import { declaredCaller } from "../../../src/shared/principal.js";
import { eventually } from "../../harness/eventually.js";
import { SILENT } from "../../harness/silent.js";
import { executed } from "../shared/record.js";

function openSession(hello: Partial<PipeHello> = {}) {
  const submitted: ToolCall[] = [];
  const delivered: Parameters<Deliveries["delivered"]>[] = [];
  const givenUp: Parameters<Deliveries["givenUp"]>[] = [];
  const said: { header: ToPipe; text?: string | undefined }[] = [];
  const gone = new AbortController();
  const record = executed({ logId: "op1", effect: "mutating" });
  const broker = {
    submit: async (call: ToolCall) => {
      submitted.push(call);
      return { record, relation: "created", timeout: 0 };
    },
    wait: async () => ({ record }),
    delivered: async (...noted: Parameters<Deliveries["delivered"]>) => void delivered.push(noted),
    noted: async () => undefined,
    givenUp: async (...noted: Parameters<Deliveries["givenUp"]>) => void givenUp.push(noted),
  } as unknown as ServedGateway["broker"];
  const toolList = {
    current: async () => [],
    onChange: () => () => true,
    hasSeveralEditors: () => false,
    close: () => undefined,
  };
  const line: PipeLine = {
    send: (header, text) => void said.push({ header, text }),
    end: () => gone.abort(),
    gone: gone.signal,
  };
  const answers = { ...ANSWER_SETTINGS, form: "full" } as const;
  const exchanges = createExchanges({ deliveries: broker, log: SILENT });
  const session = openPipeSession({ broker, exchanges, toolList, log: SILENT, version: "1", answers }, line, {
    kind: "hello",
    protocol: 1,
    version: "1",
    session: "s",
    pid: 1,
    folder: "/",
    isResumed: false,
    ...hello,
  });
  const hear = (header: ToBroker, message?: object): void =>
    session.heard({ header, text: message ? JSON.stringify(message) : "" });
  const call = (n: number, how: { waitedMs?: number; isResent?: boolean } = {}): void =>
    hear(
      { kind: "message", n, ...how },
      {
        jsonrpc: "2.0",
        id: n,
        method: "tools/call",
        params: { name: "work", arguments: {} },
      },
    );
  const answered = async (n: number): Promise<number> => {
    const find = () =>
      said.find(({ header }) => header.kind === "message" && header.answers === n)?.header as
        | { n: number }
        | undefined;
    await eventually(() => find() !== undefined, `request ${n} is answered`);
    return find()?.n ?? 0;
  };
  const cancel = (n: number): void =>
    hear(
      { kind: "message", n: n + 100 },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: n } },
    );
  return { session, hear, call, cancel, answered, submitted, delivered, givenUp, said };
}

test("an answer counts when the pipe has written it to the client, and is read then", async () => {
  const { session, hear, call, answered, delivered } = openSession();
  call(1);
  const answer = await answered(1);
  expect(delivered).toEqual([]);
  hear({ kind: "written", n: answer });
  await eventually(() => delivered.length === 1, "it is noted");
  expect(delivered[0]).toMatchObject([{ id: "stdio:s" }, { logId: "op1" }, { isRead: true }]);
  call(2, { waitedMs: 10_000 });
  hear({ kind: "written", n: await answered(2) });
  await eventually(() => delivered.length === 2, "it is noted");
  expect(delivered[1]?.[2]).toEqual({ isRead: false });
  await session.close();
});

test("what comes right behind the greeting, as to the next broker, is its client's by the name that it declares", async () => {
  const { session, hear, call, answered, delivered } = openSession({ isResumed: true });
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: declaredCaller("a command line"),
    clientInfo: { name: "c", version: "1" },
  };
  hear({ kind: "message", n: 1, isResent: true }, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  hear({ kind: "message", n: 2 }, { jsonrpc: "2.0", method: "notifications/initialized" });
  call(3, { isResent: true });
  hear({ kind: "written", n: await answered(3) });
  await eventually(() => delivered.length === 1, "it is noted");
  expect(delivered[0]).toMatchObject([
    { id: expect.stringMatching(/^cli:/) },
    { logId: "op1" },
    { isRead: false },
  ]);
  await session.close();
});

test("a cancellation that came before its request, as over two connections, cancels it; one of an earlier request does not", async () => {
  const { session, hear, call, cancel, answered, submitted, said } = openSession();
  cancel(1);
  call(1);
  await eventually(
    () => said.some(({ header }) => header.kind === "dropped" && header.answers === 1),
    "dropped",
  );
  expect(submitted).toEqual([]);
  call(2);
  hear({ kind: "written", n: await answered(2) });
  cancel(2);
  call(2);
  await eventually(() => submitted.length === 2, "the id is used again");
  await session.close();
});

test("a request is known again by every broker that gets it, and no other one is taken for it", async () => {
  const calls = await Promise.all(
    [1, 1, 2].map(async (n) => {
      const { session, hear, call, answered, submitted } = openSession({ isResumed: true });
      call(n, { isResent: true });
      hear({ kind: "written", n: await answered(n) });
      await session.close();
      return submitted[0];
    }),
  );
  const [first, again, other] = calls.map((call) => call?.logId);
  expect(first).toMatch(UUID);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
  expect(calls[0]).toMatchObject({ isResent: true });
});

test("what is no message of MCP ends what the pipe took for a request: by an answer, or without one", async () => {
  const { session, hear, said } = openSession();
  hear({ kind: "message", n: 1, waitedMs: 0 }, { id: 1, method: "tools/list" });
  expect(said.at(-1)).toEqual({
    header: { kind: "message", n: 1, answers: 1 },
    text: expect.stringContaining('"id":1,"error":{"code":-32600'),
  });
  hear({ kind: "message", n: 2, waitedMs: 0 }, { method: "tools/list" });
  expect(said.at(-1)?.header).toEqual({ kind: "dropped", answers: 2 });
  await session.close();
});

test("an answer that the pipe has not written counts for nothing", async () => {
  const { session, call, answered, delivered } = openSession();
  call(1);
  await answered(1);
  const closing = session.close();
  session.heard({ header: { kind: "end" }, text: "" });
  await closing;
  expect(delivered).toEqual([]);
});

test("a call that comes again with its cancellation gives up what an earlier broker made of it, and begins nothing", async () => {
  const before = openSession();
  before.call(1);
  await eventually(() => before.submitted.length === 1, "it is accepted");
  const { call, cancel, submitted, givenUp } = openSession();
  call(1, { isResent: true });
  cancel(1);
  call(2);
  cancel(2);
  call(3);
  await eventually(() => submitted.length === 1, "the last one is accepted");
  const logId = before.submitted[0]?.logId;
  expect(givenUp).toMatchObject([[{ caller: { id: "stdio:s" } }, { logId, isOwn: true, isTimeout: false }]]);
});
