/** What a broker notes of deliveries to a client behind a pipe (▲7): what the pipe says, in the order in which it says it. */
import { expect, test } from "vitest";
import type { Deliveries } from "../../../src/gateway/deliveries.js";
import type { ServedGateway } from "../../../src/gateway/mcp/pipe/late-gateway.js";
import { openPipeSession, type PipeLine } from "../../../src/gateway/mcp/pipe/pipe-session.js";
import { createPrompts } from "../../../src/gateway/mcp/prompts/prompts.js";
import { ANSWER_SETTINGS } from "../../../src/shared/answer-forms.js";
import type { PipeHello, ToBroker, ToPipe } from "../../../src/shared/pipe/frames.js";
import { eventually } from "../../harness/eventually.js";
import { SILENT } from "../../harness/silent.js";
import { executed } from "../shared/record.js";

const NOW = { monotonic: Number(process.hrtime.bigint()) / 1e6, wall: Date.now() };

function openSession(hello: Partial<PipeHello> = {}) {
  const delivered: Parameters<Deliveries["delivered"]>[] = [];
  const said: { header: ToPipe; text?: string | undefined }[] = [];
  const gone = new AbortController();
  const record = executed({ logId: "op1", effect: "mutating" });
  const broker = {
    submit: async () => ({ record, relation: "created", timeout: 0 }),
    wait: async () => ({ record }),
    delivered: async (...noted: Parameters<Deliveries["delivered"]>) => void delivered.push(noted),
    forget: () => undefined,
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
  const session = openPipeSession(
    { broker, toolList, prompts: createPrompts(SILENT), log: SILENT, version: "1", answers },
    line,
    {
      kind: "hello",
      protocol: 1,
      version: "1",
      session: "s",
      pid: 1,
      folder: "/",
      count: 0,
      isResumed: false,
      ...hello,
    },
  );
  const hear = (header: ToBroker, message?: object): void =>
    session.heard({ header, text: message ? JSON.stringify(message) : "" });
  const call = (n: number): void =>
    hear(
      { kind: "message", n, sentAt: NOW },
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
  return { session, hear, call, answered, delivered, said };
}

test("an answer counts when it was written, and what was read before that was sent before it was read", async () => {
  const { session, hear, call, answered, delivered } = openSession();
  call(1);
  const answer = await answered(1);
  expect(delivered).toEqual([]);
  hear({ kind: "message", n: 2, sentAt: NOW }, { jsonrpc: "2.0", method: "notifications/other" });
  // In one piece, as they come when the client is quick: it sent the next message because of the answer.
  hear({ kind: "written", n: answer });
  call(3);
  await eventually(() => delivered.length === 1, "it is noted");
  expect(delivered[0]?.[0]).toMatchObject({ requestId: 1 });
  expect(delivered[0]?.[2]).toMatchObject({ upTo: 2 });
  hear({ kind: "written", n: await answered(3) });
  await session.close();
});

test("of a session that had another broker, everything counts as read that was before this one", async () => {
  const { session, hear, call, answered, delivered } = openSession({ isResumed: true, count: 9 });
  call(4);
  hear({ kind: "written", n: await answered(4) });
  await eventually(() => delivered.length === 1, "it is noted");
  expect(delivered[0]?.[0]).toMatchObject({ requestId: 4, since: 9 });
  expect(delivered[0]?.[2]).toMatchObject({ upTo: 9 });
  await session.close();
});

test("what is no message of MCP ends what the pipe took for a request: by an answer, or without one", async () => {
  const { session, hear, said } = openSession();
  hear({ kind: "message", n: 1, sentAt: NOW }, { id: 1, method: "tools/list" });
  expect(said.at(-1)).toEqual({
    header: { kind: "message", n: 1, answers: 1 },
    text: expect.stringContaining('"id":1,"error":{"code":-32600'),
  });
  hear({ kind: "message", n: 2, sentAt: NOW }, { method: "tools/list" });
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
