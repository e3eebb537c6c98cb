/** What a plain uLoop bridge may say that is not so; by name, with how a call to it may end. */
import { Refusal, SILENCE, type Telling } from "../harness/editor/hostile-editor.js";
import type { Lie } from "./lies.js";

const work = (answer: (telling: Telling) => unknown, ends: Lie["ends"]): Lie => ({
  plain: true,
  methods: { work: answer },
  ends,
});
const CONTROLS = "\u001b]52;c;eA==\u0007\u009b2J";
const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

export const PLAIN_LIES: Record<string, Lie> = {
  "tools that are no list": {
    plain: true,
    methods: { "get-tool-details": () => ({ Tools: 1 }) },
    ends: ["unknown"],
  },
  "20 000 tools": {
    plain: true,
    methods: {
      "get-tool-details": () => ({ Tools: Array.from({ length: 20_000 }, (_, at) => ({ name: `t${at}` })) }),
    },
    ends: ["unknown"],
  },
  "an error with everything": work(() => {
    throw new Refusal(1e300, CONTROLS, { type: { a: 1 }, message: 7, reason: [], command: CONTROLS });
  }, ["failed"]),
  "a refusal that it never began, after it did": work(() => {
    throw new Refusal(-32603, "x", { type: "security_blocked", command: "other" });
  }, ["failed"]),
  "a result that nests 100 000 deep": work(
    ({ id, wire }) => {
      wire.frame(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${deep(100_000)}}`);
      return SILENCE;
    },
    ["failed"],
  ),
  "a result and an error": work(
    ({ id, wire }) => {
      wire.frame(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":1,"error":{"code":1,"message":"x"}}`);
      return SILENCE;
    },
    ["completed", "failed"],
  ),
  "two answers": work(
    ({ id, wire }) => {
      wire.reply(id, 1);
      wire.reply(id, 2);
      return SILENCE;
    },
    ["completed"],
  ),
  "an answer to another question": work(
    ({ wire }) => {
      wire.reply(987_654, "forged");
      return SILENCE;
    },
    ["running"],
  ),
  "the words of a bridge with a ledger": work(
    ({ wire, params }) => {
      for (const operationId of ["none", JSON.stringify(params)]) {
        wire.notify("operation/finished", { operationId, outcome: { status: "completed", endedAt: 1 } });
      }
      return { Done: "lie" };
    },
    ["completed"],
  ),
  "no answer, and the connection ends": work(
    ({ wire }) => {
      wire.end();
      return SILENCE;
    },
    ["interrupted"],
  ),
  "an answer of 10^15 bytes": work(
    ({ wire }) => {
      wire.raw("Content-Length: 999999999999999\r\n\r\n");
      return SILENCE;
    },
    ["interrupted", "failed"],
  ),
  "an answer that is not JSON": work(
    ({ wire }) => {
      wire.frame("{{{{");
      return SILENCE;
    },
    ["running"],
  ),
  "notices without end": {
    plain: true,
    onReady: (wire) =>
      wire.flood(() => JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })),
    // Its own answers wait behind what it says, which is read slowly.
    ends: ["completed", "running", "dispatched", "queued", "unknown"],
  },
  "HTTP in place of an answer": work(
    ({ wire }) => {
      wire.raw("HTTP/1.1 200 OK\r\nHost: x\r\n\r\n");
      return SILENCE;
    },
    ["interrupted"],
  ),
};
