/** Calls after something ended: the first one of a new broker, and the next one after another client was killed. */
import { setTimeout as after } from "node:timers/promises";
import type { StdioClient } from "../../../../harness/processes/process-clients.js";
import { called, type Home, listed } from "../../clients/home.js";
import type { Closers } from "../../closers.js";
import type { Row } from "../../measure/rounds.js";
import { THINKS_MS } from "./caller-rows.js";

/** The broker was just started, and knows its Editor; each call ends the broker before. */
export function firstCallRow(closers: Closers, home: Home): Row {
  let client: StdioClient | undefined;
  closers.add(() => client?.close());
  return {
    key: "first",
    title: "the first call of a started broker",
    inFlight: 1,
    callsOfBlock: 1,
    async prepare() {
      await client?.close();
      client = undefined;
      await home.endBroker();
      client = await home.client();
      await listed(client);
      await after(THINKS_MS);
    },
    call: () => client && called(client),
  };
}

/** The other client is new each time and has called just before, whether it is killed or not. */
export async function killedClientRows(closers: Closers, home: Home): Promise<Row[]> {
  const caller = await home.client();
  closers.add(() => caller.close());
  const call = (): Promise<number> => called(caller);
  let other: StdioClient | undefined;
  const begin = async () => async (): Promise<void> => {
    await other?.close();
    other = undefined;
  };
  const callOfOther = async (): Promise<StdioClient> => {
    await other?.close();
    other = await home.client();
    await called(other);
    return other;
  };
  const kill = async (): Promise<void> => {
    await (await callOfOther()).process.kill("SIGKILL");
    other = undefined;
  };
  const row = { inFlight: 1, callsOfBlock: 3, begin, call };
  return [
    { ...row, key: "beside", title: "a call after one of another client", prepare: callOfOther },
    { ...row, key: "after-kill", title: "a call after another client was killed", prepare: kill },
  ];
}
