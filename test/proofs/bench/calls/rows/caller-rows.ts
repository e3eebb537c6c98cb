/** Calls to one Editor: by one client, one or several at a time, and by several clients, one at a time each. */
import { setTimeout as after } from "node:timers/promises";
import type { StdioClient } from "../../../../harness/processes/process-clients.js";
import { called, type Home } from "../../clients/home.js";
import type { Closers } from "../../closers.js";
import type { Row } from "../../measure/rounds.js";

/** As long as an assistant thinks, at the least, ms. */
export const THINKS_MS = 700;

/** How many calls one client has open in a row of callers, with the row's key. */
const CALLERS = [
  { key: "few", callers: 4 },
  { key: "many", callers: 16 },
  { key: "crowd", callers: 100 },
];

/** How many clients call in a row, with its key; of one it is the row "a call". */
const CLIENTS = [
  { key: "clients-4", count: 4 },
  { key: "clients-16", count: 16 },
];

export async function callerRows(closers: Closers, home: Home): Promise<Row[]> {
  // The first one starts the broker.
  const clients: StdioClient[] = [await home.client()];
  clients.push(...(await Promise.all(Array.from({ length: 15 }, () => home.client()))));
  closers.add(() => Promise.all(clients.map((client) => client.close())));
  const callOf = async (at: number): Promise<void> => {
    const client = clients[at];
    if (client) await called(client);
  };
  const call = (): Promise<void> => callOf(0);
  return [
    { key: "call", title: "a call: one client, one at a time", inFlight: 1, call },
    ...CALLERS.map(({ key, callers }) => ({
      ...{ key, title: `${callers} callers of one client`, inFlight: callers, call },
    })),
    ...CLIENTS.map(({ key, count }) => ({
      ...{ key, title: `${count} clients, one call at a time each`, inFlight: count, call: callOf },
    })),
    spaced("spaced", `a call after ${THINKS_MS} ms of silence`, call),
  ];
}

/** `call`, each time after a silence. */
export function spaced(key: string, title: string, call: Row["call"]): Row {
  return { key, title, inFlight: 1, callsOfBlock: 1, prepare: () => after(THINKS_MS), call };
}
