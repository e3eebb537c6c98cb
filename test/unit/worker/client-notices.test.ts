/** When an Editor is told of the connected clients, and what. */
import { afterEach, expect, test } from "vitest";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import type { ConnectedClient } from "../../../src/shared/store/connected-clients.js";
import type { ClientsNotice } from "../../../src/shared/wire/clients-notice.js";
import {
  type ClientNotices,
  createClientNotices,
  reportedClients,
} from "../../../src/worker/owner/link-handlers.js";
import { SILENT } from "../../harness/silent.js";

const client = (id: string, given: Partial<ConnectedClient> = {}): ConnectedClient => ({
  ...{ id, principal: "ann", transport: "stdio", since: 1_000, name: `client ${id}`, version: "1" },
  ...given,
});

const opened: ClientNotices[] = [];
afterEach(() => {
  for (const notices of opened.splice(0)) notices.close();
});

function stage(restMs = 1, lifeMs = 3_600_000) {
  const listeners = new Set<() => void>();
  const reported: { notice: ClientsNotice; at: number }[] = [];
  const link = {
    state: "ready" as "ready" | "connecting",
    tellClients: (notice: ClientsNotice) => void reported.push({ notice, at: performance.now() }),
  };
  let connected: ConnectedClient[] = [];
  let open: OperationRecord[] = [];
  let reads = 0;
  const notices = createClientNotices(
    {
      editorId: "game@1",
      operations: { openOf: async () => open },
      clients: {
        lifeMs,
        async all() {
          reads += 1;
          return connected;
        },
      },
      notifier: {
        on(_channel, listener) {
          listeners.add(() => listener(""));
          return () => listeners.clear();
        },
      },
      link,
      log: SILENT,
    },
    { clientsRestMs: restMs },
  );
  opened.push(notices);
  /** Resolves when it has looked so often in all. */
  const looked = async (times: number): Promise<void> => {
    while (reads < times) await new Promise((next) => setImmediate(next));
    await new Promise((next) => setImmediate(next));
  };
  return {
    reported,
    link,
    notices,
    looked,
    listeners,
    reads: () => reads,
    publish: () => {
      for (const listener of listeners) listener();
    },
    now: (...now: ConnectedClient[]) => {
      connected = now;
    },
    opens: (...operations: OperationRecord[]) => {
      open = operations;
    },
  };
}

test("after hello it is told who is there, and later only what is new", async () => {
  const { reported, notices, looked, publish, now } = stage();
  notices.connected();
  await looked(1);
  expect(reported.map(({ notice }) => notice)).toEqual([{ clients: [], total: 0 }]);
  now(client("a", { principal: "ben" }));
  publish();
  await looked(2);
  // Somebody's note was renewed, or another change was told with the last one.
  publish();
  await looked(3);
  expect(reported.map(({ notice }) => notice).slice(1)).toEqual([
    { clients: [{ name: "client a", version: "1", transport: "stdio" }], total: 1 },
  ]);
  notices.connected();
  await looked(4);
  expect(reported).toHaveLength(3);
});

test("nothing is looked up or reported while there is no connection, and nobody listens after the end", async () => {
  const { reported, link, notices, looked, publish, listeners, reads } = stage();
  link.state = "connecting";
  publish();
  link.state = "ready";
  notices.connected();
  await looked(1);
  expect(reported).toHaveLength(1);
  expect(listeners.size).toBe(1);
  notices.close();
  expect(listeners.size).toBe(0);
  expect(reads()).toBe(1);
});

test("the clients of the last gateway, whose end nobody publishes, are missed without a message", async () => {
  const { reported, notices, looked, now } = stage(1, 10);
  now(client("a"));
  notices.connected();
  await looked(1);
  now();
  while (reported.length < 2) await new Promise((next) => setImmediate(next));
  expect(reported[1]?.notice).toEqual({ clients: [], total: 0 });
});

const operation = (caller: string, tool: string, state: OperationRecord["state"]) =>
  ({ tool, state, createdBy: { caller, requestId: 1 } }) as OperationRecord;

test("each client is reported with what it runs and how much of it waits", () => {
  const open = [
    operation("a", "run-tests", "running"),
    operation("a", "compile", "queued"),
    operation("a", "ping", "queued"),
    operation("b", "build-player", "queued"),
    operation("left", "compile", "queued"),
  ];
  const { clients } = reportedClients([client("a"), client("b"), client("c")], open);
  expect(clients.map(({ runs, waits }) => ({ runs, waits }))).toEqual([
    { runs: "run-tests", waits: 2 },
    { runs: undefined, waits: 1 },
    { runs: undefined, waits: undefined },
  ]);
});

test("while something runs every heartbeat looks, and once more after it; an idle Editor costs nothing", async () => {
  const { reported, notices, looked, now, opens, reads } = stage();
  now(client("a"));
  notices.connected();
  await looked(1);
  notices.heard(false);
  opens(operation("a", "compile", "running"));
  notices.heard(true);
  await looked(2);
  expect(reported.at(-1)?.notice.clients[0]?.runs).toBe("compile");
  opens();
  notices.heard(false);
  await looked(3);
  expect(reported.at(-1)?.notice.clients[0]?.runs).toBeUndefined();
  for (let turn = 0; turn < 200; turn += 1) {
    notices.heard(false);
    await new Promise((next) => setImmediate(next));
  }
  expect(reads()).toBe(3);
});

test("many changes in a short time are few notices, and the last one is reported", async () => {
  const restMs = 60;
  const { reported, notices, publish, now } = stage(restMs);
  notices.connected();
  const last = 200;
  for (let count = 1; count <= last; count += 1) {
    now(client(String(count)));
    publish();
    await new Promise((next) => setImmediate(next));
  }
  const isTold = () => reported.at(-1)?.notice.clients[0]?.name === `client ${last}`;
  while (!isTold()) await new Promise((next) => setImmediate(next));
  const gaps = reported.slice(1).map(({ at }, index) => at - (reported[index]?.at ?? 0));
  // A timer may ring a moment early.
  for (const gap of gaps) expect(gap).toBeGreaterThan(restMs - 10);
  expect(gaps.length).toBeGreaterThan(0);
});

test("the first 32 are named, by nothing but what people read, and all are counted", () => {
  const many = Array.from({ length: 40 }, (_, at) => client(String(at), { name: "\u001b[2J".repeat(50) }));
  const { clients, total } = reportedClients(many, []);
  expect(total).toBe(40);
  expect(clients).toHaveLength(32);
  for (const one of clients) {
    expect(Object.keys(one).sort()).toEqual(["name", "transport", "version"]);
    expect(one.name).toMatch(/^\\u001b\[2J.*…$/);
    expect(one.name.length).toBeLessThanOrEqual(64);
  }
});
