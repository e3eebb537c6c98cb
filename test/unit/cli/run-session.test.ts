/** A broker that is away while `run` waits: when it is asked again, and when the command gives up. */
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import type { BrokerClient } from "../../../src/cli/client/broker-client.js";
import { BrokerAway, createBrokerSession } from "../../../src/cli/run/broker-session.js";
import { waitForEnd } from "../../../src/cli/run/step.js";
import type { Answer } from "../../../src/shared/operation/answer.js";

const running: Answer = { status: "running", state: "running", log_id: "a", message: "" };
const ended: Answer = { status: "completed", state: "completed", log_id: "a", message: "" };
const refusal = (error_code: Answer["error_code"]) =>
  ({ status: "error", error_code, message: `${error_code}` }) as Answer;
const later = () => performance.now() + 60_000;
const never = new AbortController().signal;

/** What each call is answered, over all connections; "cut": the connection breaks. */
function brokerOf(...answers: (Answer | Error | "cut")[]) {
  const asked: Record<string, unknown>[] = [];
  const said: string[] = [];
  let connections = 0;
  const connect = async (): Promise<BrokerClient> => {
    connections += 1;
    return {
      call: async (_tool, args = {}) => {
        asked.push(args);
        const next = answers[Math.min(asked.length, answers.length) - 1];
        if (next === "cut" || next === undefined) throw new Error("cut");
        if (next instanceof Error) throw new Error(next.message, { cause: next });
        return next;
      },
      tools: async () => [],
      piece: async () => Buffer.alloc(0),
      close: async () => undefined,
    };
  };
  const open = async (patienceMs = 60_000) =>
    createBrokerSession(
      { first: await connect(), connect, say: (line) => void said.push(line) },
      { patienceMs, pauseMs: 1, mostPauseMs: 2 },
    );
  return { open, asked, said, connections: () => connections };
}

test("a connection that breaks is made again, and the same is asked; a person is told once", async () => {
  const broker = brokerOf("cut", "cut", ended);
  const session = await broker.open();
  expect(await session.call("t", { key: "k" }, { signal: never, until: later() })).toBe(ended);
  expect(broker.asked).toEqual([{ key: "k" }, { key: "k" }, { key: "k" }]);
  expect(broker.connections()).toBe(3);
  expect(broker.said).toHaveLength(1);
});

test("a refusal that passes is asked again over the same connection; another one is the answer", async () => {
  for (const code of ["STORE_UNAVAILABLE", "BROKER_ENDED", "RATE_LIMITED"] as const) {
    const broker = brokerOf(refusal(code), ended);
    expect(await (await broker.open()).call("t", {}, { signal: never, until: later() })).toBe(ended);
    expect(broker.connections()).toBe(1);
  }
  for (const given of [refusal("NO_EDITOR"), refusal("IDEMPOTENCY_CONFLICT")])
    expect(await (await brokerOf(given).open()).call("t", {}, { signal: never, until: later() })).toBe(given);
  const unknown = new McpError(-32602, "There is no such tool.", { error_code: "UNKNOWN_TOOL" });
  const answer = await (await brokerOf(unknown).open()).call("t", {}, { signal: never, until: later() });
  expect(answer).toMatchObject({ status: "error", error_code: "UNKNOWN_TOOL" });
});

test("it gives up when its patience or the wait is over, or when it is interrupted", async () => {
  const impatient = (await brokerOf("cut").open(0)).call("t", {}, { signal: never, until: later() });
  await expect(impatient).rejects.toThrow(BrokerAway);
  const late = (await brokerOf("cut").open()).call("t", {}, { signal: never, until: performance.now() });
  await expect(late).rejects.toThrow(BrokerAway);
  const interrupt = new AbortController();
  const waiting = (await brokerOf("cut").open()).call("t", {}, { signal: interrupt.signal, until: later() });
  interrupt.abort(new Error("interrupted"));
  await expect(waiting).rejects.toThrow(/interrupted|aborted/);
});

test("a wait goes on over answers, ends with the outcome, and is never mistaken for one", async () => {
  const seen: Answer[] = [];
  const wait = async (broker: ReturnType<typeof brokerOf>, until = later()) =>
    waitForEnd(await broker.open(0), "a", {
      until,
      signal: never,
      onAnswer: (answer) => void seen.push(answer),
    });
  const long = brokerOf(running, running, ended);
  expect(await wait(long)).toEqual({ kind: "answered", answer: ended });
  expect(seen).toEqual([running, running, ended]);
  expect(long.asked.every(({ wait: waits, log_id }) => waits === true && log_id === "a")).toBe(true);
  const over = brokerOf(running);
  expect(await wait(over, performance.now())).toEqual({ kind: "answered", answer: running });
  expect(over.asked).toEqual([{ log_id: "a", wait: false, timeout: 0 }]);
  expect(await wait(brokerOf(running, refusal("INTERNAL")))).toEqual({ kind: "away", reason: "INTERNAL" });
  expect(await wait(brokerOf(running, "cut"))).toEqual({ kind: "away", reason: "cut" });
});
