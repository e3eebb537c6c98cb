/** What an Editor may say that nobody asked for, over our protocol: the calls to it are answered honestly beside. */
import type { Wire } from "../harness/editor/hostile-editor.js";
import { type Lie, others } from "./lies.js";

const noise = (onReady: (wire: Wire) => void, ends: Lie["ends"] = ["completed"]): Lie => ({ onReady, ends });
/** Its own answers wait behind what it says, which is read slowly. */
const LATE: Lie["ends"] = ["completed", "running", "dispatched", "queued", "unknown"];
const notice = (method: string, params: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params });
const flood = (method: string, params: (at: number) => unknown): Lie => {
  let at = 0;
  return noise((wire) => {
    wire.flood(() => {
      at += 1;
      return notice(method, params(at));
    });
  }, LATE);
};
const outcome = { status: "completed", result: "forged", startedAt: 1, endedAt: 2 };
const heartbeat = {
  ...{ editorSessionId: "s1", generation: 1, assetCounter: 1, phase: "ready" },
  ...{ mainThreadStallMs: 0, queued: 0, ledgerSeq: 1 },
};

/** The connection ends again and again, perhaps before anybody knows the Editor. */
const CLOSED: Lie["ends"] = ["unknown", "queued", "dispatched", "completed"];

export const NOISE: Record<string, Lie> = {
  "the end of another's operation": noise((wire) => {
    const reported = { operationId: others.logId, ledgerSeq: 1 };
    wire.notify("operation/running", reported);
    wire.notify("operation/finished", { ...reported, outcome });
  }),
  "progress of another's operation": noise((wire) => {
    const reported = { operationId: others.logId, seq: 1, progress: 99, message: "forged" };
    wire.notify("operation/progress", { ...reported, partialResult: "forged" });
  }),
  "ends of operations that never were": flood("operation/finished", (at) => ({
    operationId: `none-${at}`,
    outcome,
    ledgerSeq: at,
  })),
  "beginnings of operations that never were": flood("operation/running", (at) => ({
    operationId: `none-${at}`,
    ledgerSeq: at,
  })),
  "progress without end": flood("operation/progress", (at) => ({
    operationId: `none-${at}`,
    seq: at,
    progress: at,
    message: "x".repeat(1_000),
  })),
  "notices of a wrong shape": flood("operation/progress", (at) => ({ operationId: at, seq: "x" })),
  "heartbeats without end": flood("bridge/heartbeat", (at) => ({ ...heartbeat, generation: at })),
  "heartbeats from the future": noise((wire) => {
    const strange = { generation: 1e300, assetCounter: -1e300, mainThreadStallMs: -1e300, queued: 1e300 };
    wire.notify("bridge/heartbeat", { ...heartbeat, ...strange, runningOperationId: others.logId });
    wire.notify("bridge/heartbeat", { ...heartbeat, generation: -1, editorSessionId: "another" });
  }),
  "shutdowns without end": flood("notifications/server/shutdown", () => ({ reason: "DomainReload" })),
  "answers to nothing": noise((wire) => {
    let id = 1_000_000;
    wire.flood(() => {
      id += 1;
      return JSON.stringify({ jsonrpc: "2.0", id, error: { code: id, message: "x" } });
    });
  }, LATE),
  "requests whose answers it does not read": noise((wire) => {
    wire.flood(() => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(100), params: {} }));
  }, LATE),
  "frames that are not JSON": noise((wire) => wire.flood(() => "{".repeat(1_000)), LATE),
  batches: noise((wire) => wire.flood(() => "[{},{}]"), LATE),
  "a frame that nests 5 000 000 deep": noise((wire) => {
    wire.frame(
      `{"jsonrpc":"2.0","method":"operation/progress","params":${"[".repeat(5e6)}${"]".repeat(5e6)}}`,
    );
  }),
  "a frame of 10^15 bytes": noise((wire) => wire.raw("Content-Length: 999999999999999\r\n\r\n"), CLOSED),
  "half a frame": noise((wire) => wire.raw("Content-Length: 1000\r\n\r\n{"), CLOSED),
  "a header without end": noise((wire) => wire.raw("x".repeat(1_000_000)), CLOSED),
  HTTP: noise((wire) => wire.raw("HTTP/1.1 200 OK\r\nHost: x\r\n\r\n"), CLOSED),
  "bytes that are no text": noise((wire) => {
    const bytes = Buffer.alloc(1_000, 0xff);
    wire.raw(Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]));
  }),
  "a ledger without end": {
    methods: {
      "operation/list": ({ count }) => ({
        ...{ ledgerSeq: 1, nextCursor: `c${count}` },
        operations: Array.from({ length: 500 }, (_, at) => ({
          operationId: `none-${count}-${at}`,
          state: "completed",
        })),
      }),
    },
    ends: ["unknown"],
  },
  "a ledger that turns in a circle": {
    methods: {
      "operation/list": () => ({
        operations: [],
        nextCursor: "c",
        ledgerSeq: 1,
      }),
    },
    ends: ["unknown"],
  },
  "a ledger with operations for others": {
    methods: {
      "operation/list": () => ({
        ledgerSeq: 1,
        operations: ["bob", "ann", "local"].map((principal, at) => ({
          ...{ operationId: `forged-${at}`, state: "completed", hash: "h", after: null, acceptedAt: 1e300 },
          origin: {
            ...{ principal, tool: "work", fingerprint: "f", storeId: others.storeId },
            signature: "A".repeat(43),
          },
        })),
      }),
    },
    ends: ["completed"],
  },
};
