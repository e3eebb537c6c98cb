import type { Broker } from "../../../src/gateway/broker.js";
import type { ToolCall } from "../../../src/gateway/call-reader.js";
import { singleRequest } from "../../../src/gateway/exchange.js";
import type { OperationView } from "../../../src/shared/operation/answer.js";
import { type Caller, isFinal, type State } from "../../../src/shared/operation/operation.js";
import { PATIENCE_MS } from "../eventually.js";

/** One caller of the broker's verbs, that numbers its requests. */
export interface Client {
  /** Of a request that it sends by itself; without a session each request is another caller. */
  readonly caller: Caller;
  /** Submits; `parameters` are the broker's own (timeout, force_new, …). */
  submit(
    tool: string,
    args?: Record<string, unknown>,
    parameters?: Record<string, unknown>,
  ): ReturnType<Broker["submit"]>;
  /** The call that `submit` would send next, for those who send it elsewhere, or twice. */
  callOf(tool: string, args?: Record<string, unknown>, parameters?: Record<string, unknown>): ToolCall;
  /** A call as it is. */
  send(call: ToolCall): ReturnType<Broker["submit"]>;
  /** Waits for the end. */
  outcome(logId: string): Promise<OperationView>;
  /** Waits, woken by messages only, until the operation looks like this. */
  until(logId: string, is: (view: OperationView) => boolean): Promise<OperationView>;
  reaches(logId: string, state: State): Promise<OperationView>;
}

export function clientOf(broker: Broker, principal: string, caller: Caller | null): Client {
  let lastRequestId = 0;
  const callerNow = (): Caller => caller ?? singleRequest("http");
  const until: Client["until"] = async (logId, is) => {
    const found = new AbortController();
    let last: OperationView | undefined;
    const onChange = (view: OperationView): void => {
      last = view;
      if (is(view)) found.abort();
    };
    await broker.wait(principal, logId, { ms: PATIENCE_MS, signal: found.signal, onChange });
    if (!last || !is(last)) throw new Error(`never so; last seen ${last?.record.state}`);
    return last;
  };
  const callOf: Client["callOf"] = (tool, args = {}, meta = {}) => {
    lastRequestId += 1;
    return { principal, caller: callerNow(), requestId: lastRequestId, tool, arguments: args, meta };
  };
  return {
    get caller() {
      return callerNow();
    },
    callOf,
    send: (call) => broker.submit(call),
    submit: (...call) => broker.submit(callOf(...call)),
    until,
    outcome: (logId) => until(logId, ({ record }) => isFinal(record.state)),
    reaches: (logId, state) => until(logId, ({ record }) => record.state === state),
  };
}
