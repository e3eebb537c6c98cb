/** What an Editor may say that is not so, over our protocol; by name, with how a call to it may end. */
import type { State } from "../../src/shared/operation/operation.js";
import {
  type Behaviour,
  Refusal,
  SILENCE,
  type Telling,
  type Wire,
} from "../harness/editor/hostile-editor.js";

export interface Lie extends Behaviour {
  /** `unknown`: the Editor is never served, and calls to it are refused. */
  ends: (State | "unknown")[];
}

/** What a lie may know of others: an operation of another principal that runs on an honest Editor. */
export const others = { logId: "", storeId: "" };

const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const CONTROLS = "\u001b]52;c;eA==\u0007\u009b2J\u202e";

const hello = (change: (honest: Record<string, unknown>) => unknown, ends: Lie["ends"]): Lie => ({
  methods: { "bridge/prove": ({ honest }) => change(honest()) },
  ends,
});
const helloWith = (more: object, ends: Lie["ends"] = ["completed"]): Lie =>
  hello((honest) => ({ ...honest, ...more }), ends);
const tools = (answer: unknown, ends: Lie["ends"]): Lie => ({
  methods: { "get-tool-details": () => answer },
  ends,
});
/** The answer to a submit, in place of `accepted`. */
const submit = (answer: (telling: Telling) => unknown, ends: Lie["ends"]): Lie => ({
  methods: { "operation/submit": answer },
  ends,
});
const outcome = (more: object) => ({ status: "completed", startedAt: 1, endedAt: 2, ...more });
/** Accepted, then told as finished so. */
const finished = (more: object, ends: Lie["ends"] = ["failed"]): Lie =>
  submit(({ params, wire }) => {
    const reported = { operationId: params.operationId, outcome: outcome(more), ledgerSeq: 1 };
    setImmediate(() => wire.notify("operation/finished", reported));
    return { state: "accepted", ledgerSeq: 1 };
  }, ends);
/** Honest, but it says much beside. */
const beside = (say: (wire: Wire) => void, ends: Lie["ends"] = ["completed"]): Lie => ({
  onReady: say,
  ends,
});
const notice = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", method, params });
const forged = (principal: string) => ({
  ...{ principal, tool: "work", fingerprint: "f", storeId: others.storeId, caller: null },
  signature: "A".repeat(43),
});

export const LIES: Record<string, Lie> = {
  // Who it is.
  "hello of a wrong shape": helloWith({ open: 7, generation: "x" }, ["unknown"]),
  "hello of another Editor": helloWith({ editorId: "game-1@0000" }, ["unknown"]),
  "hello of another protocol": helloWith({ protocol: 99 }, ["unknown"]),
  "hello with a project's name of 10 MB": helloWith({ projectName: "x".repeat(10_000_000) }, ["unknown"]),
  "hello with control characters": helloWith({
    projectName: CONTROLS,
    unityVersion: CONTROLS,
    phase: CONTROLS,
  }),
  "hello that says it keeps no ledger": helloWith({ plain: true }),
  "hello with __proto__": hello(
    (honest) => JSON.parse(`{"__proto__":{"plain":true,"open":1},${JSON.stringify(honest).slice(1)}`),
    ["completed"],
  ),
  "hello with an impossible process": helloWith({ pid: -1e300 }),
  "hello with another process's id": helloWith({ pid: 1 }),
  "hello with heartbeats in 10^300 years": helloWith({ heartbeatSeconds: 1e300 }),
  "hello with heartbeats before the last": helloWith({ heartbeatSeconds: -5 }),
  "hello with a generation of 10^300": helloWith({ generation: 1e300, assetCounter: -1e300 }),
  "hello that names 100 000 operations": helloWith({
    unacknowledged: Array.from({ length: 100_000 }, (_, at) => `none-${at}`),
  }),
  "hello that names another's operation": hello(
    (honest) => ({
      ...honest,
      open: [{ operationId: others.logId, state: "completed" }],
      unacknowledged: [others.logId],
    }),
    ["completed"],
  ),
  "hello with another file as its log": helloWith({ logFile: "/etc/passwd" }),
  "a ledger that is another with each hello": {
    methods: {
      "bridge/prove": ({ honest, count }) => ({ ...honest(), ledgerId: `l${count}`, ledgerSeq: 100 - count }),
    },
    ends: ["completed"],
  },
  "hello that is never answered": { methods: { "bridge/prove": () => SILENCE }, ends: ["unknown"] },
  "a proof of nothing": {
    methods: { "bridge/hello": ({ honest }) => ({ ...honest(), proof: "0".repeat(64) }) },
    ends: ["unknown"],
  },
  "a fence of 2^53": {
    methods: {
      "bridge/prove": () => {
        throw new Refusal(-32011, "fenced", { highestEpoch: Number.MAX_SAFE_INTEGER });
      },
    },
    ends: ["unknown"],
  },
  "a refusal with a code of 10^300": {
    methods: {
      "bridge/prove": () => {
        throw new Refusal(1e300, CONTROLS.repeat(1_000), { boundTo: 7 });
      },
    },
    ends: ["unknown"],
  },

  // Its tools.
  "20 000 tools": tools({ Tools: Array.from({ length: 20_000 }, (_, at) => ({ name: `t${at}` })) }, [
    "unknown",
  ]),
  "tools that are no list": tools({ Tools: { work: 1 } }, ["unknown"]),
  "a tool that nests 100 000 deep": {
    methods: {
      "get-tool-details": ({ id, wire }) => {
        const entries = `{"name":"deep","inputSchema":{"not":${deep(100_000)}}},{"name":"work"}`;
        wire.frame(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"Tools":[${entries}]}}`);
        return SILENCE;
      },
    },
    ends: ["completed"],
  },
  "tools with every fault": tools(
    {
      Tools: [
        ...[7, null, "work", { name: CONTROLS }, { name: "__proto__" }, { name: "cancel_operation" }],
        { name: "long", description: "x".repeat(5_000_000) },
        { name: "loop", inputSchema: { $ref: "#", $async: true, pattern: "^(a+)+$" } },
        { name: "work", inputSchema: { type: "string", properties: 5, required: "x" } },
        { name: "work", inputSchema: {} },
      ],
    },
    ["completed"],
  ),
  "tools that change without end": beside(
    (wire) => wire.flood(() => notice("notifications/tools/list_changed", {})),
    ["completed", "running", "dispatched", "queued", "unknown"],
  ),

  // What it answers to a call.
  "a state that is none": submit(() => ({ state: "splendid", ledgerSeq: 1 }), ["interrupted"]),
  "an answer that is no object": submit(() => [1e300, null], ["interrupted"]),
  "completed, and nothing else": submit(
    () => ({ state: "completed", ledgerSeq: 1 }),
    ["interrupted", "failed"],
  ),
  "revoked, for ever": submit(() => ({ state: "revoked", ledgerSeq: 1 }), ["interrupted", "failed"]),
  "not begun, for ever": submit(() => ({ state: "not_started", ledgerSeq: 1 }), ["interrupted", "failed"]),
  "the same as another's operation": submit(
    () => ({
      ...{ state: "same_as", operationId: others.logId, stateThere: "completed", origin: forged("bob") },
      ...{ acceptedAt: 1, after: null, outcome: outcome({ result: "forged" }), ledgerSeq: 1 },
    }),
    ["interrupted"],
  ),
  "the same as an operation that never was": submit(
    ({ count }) => ({
      ...{ state: "same_as", operationId: `none-${count}`, stateThere: "running", origin: forged("ann") },
      ledgerSeq: 1,
    }),
    ["interrupted"],
  ),
  "the same as itself": submit(
    ({ params }) => ({
      ...{ state: "same_as", operationId: params.operationId, stateThere: "running", ledgerSeq: 1 },
    }),
    ["interrupted"],
  ),
  "an error with a code of 10^300": submit(() => {
    throw new Refusal(-1e300, CONTROLS, { deep: [CONTROLS] });
  }, ["failed", "interrupted"]),
  "no answer, and the connection ends": submit(
    ({ wire }) => {
      wire.end();
      return SILENCE;
    },
    ["dispatched"],
  ),
  "states that cannot be read, after a new session": {
    methods: {
      "bridge/prove": ({ honest, count }) => ({ ...honest(), editorSessionId: `s${count}` }),
      "operation/submit": ({ wire }) => {
        wire.end();
        return SILENCE;
      },
      "operation/get": () => ({ state: 7 }),
    },
    ends: ["interrupted"],
  },
  "a session that knows nothing, and cannot revoke": {
    methods: {
      "bridge/prove": ({ honest, count }) => ({ ...honest(), editorSessionId: `s${count}` }),
      "operation/submit": ({ wire }) => {
        wire.end();
        return SILENCE;
      },
      "operation/get": () => ({ state: "unknown", ledgerSeq: 1 }),
      "operation/revoke": () => ({ state: "finished" }),
    },
    ends: ["interrupted"],
  },

  // How it ends.
  "an execution of 10^300 ms": finished({ executionMs: 1e300 }, ["completed"]),
  "times of another world": finished({ startedAt: -1e300, endedAt: 1e300, executionMs: -5 }, ["completed"]),
  "an end that is none": submit(
    ({ params, wire }) => {
      const { operationId } = params;
      setImmediate(() => wire.notify("operation/finished", { operationId, outcome: { status: "ok" } }));
      return { state: "accepted", ledgerSeq: 1 };
    },
    ["interrupted"],
  ),
  "two ends": submit(
    ({ params, wire }) => {
      const { operationId } = params;
      setImmediate(() => {
        wire.notify("operation/finished", { operationId, outcome: outcome({ result: 1 }), ledgerSeq: 1 });
        wire.notify("operation/finished", {
          operationId,
          outcome: outcome({ status: "failed" }),
          ledgerSeq: 1,
        });
      });
      return { state: "accepted", ledgerSeq: 1 };
    },
    ["completed"],
  ),
  "a result of 10^12 bytes": finished({ resultBytes: 1e12 }),
  "a result of -1 bytes": finished({ resultBytes: -1 }),
  "a result in parts without end": {
    ...finished({ resultBytes: 9_000_000 }),
    methods: {
      ...finished({ resultBytes: 9_000_000 }).methods,
      "operation/result": ({ params }) => ({ offset: params.offset, total: 9_000_000, base64: "" }),
    },
  },
  "a result in parts that are not JSON": {
    ...finished({ resultBytes: 6 }),
    methods: {
      ...finished({ resultBytes: 6 }).methods,
      "operation/result": () => ({
        offset: 0,
        total: 6,
        base64: Buffer.from("\u001b[2J!!").toString("base64"),
      }),
    },
  },
  "a result that nests 100 000 deep": submit(
    ({ params, wire }) => {
      const { operationId } = params;
      const reported = `{"operationId":"${operationId}","ledgerSeq":1,"outcome":{"status":"completed","startedAt":1,"endedAt":2,"result":${deep(100_000)}}}`;
      setImmediate(() => wire.frame(`{"jsonrpc":"2.0","method":"operation/finished","params":${reported}}`));
      return { state: "accepted", ledgerSeq: 1 };
    },
    ["failed"],
  ),
  "a result with __proto__": submit(
    ({ params, wire }) => {
      const { operationId } = params;
      const reported = `{"operationId":"${operationId}","ledgerSeq":1,"outcome":{"status":"completed","startedAt":1,"endedAt":2,"result":{"__proto__":{"polluted":true}}}}`;
      setImmediate(() => wire.frame(`{"jsonrpc":"2.0","method":"operation/finished","params":${reported}}`));
      return { state: "accepted", ledgerSeq: 1 };
    },
    ["completed"],
  ),
};
