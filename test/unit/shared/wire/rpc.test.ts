import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseRpc,
  rpcFailure,
  rpcNotification,
  rpcRequest,
  rpcResult,
} from "../../../../src/shared/wire/rpc.js";

const parse = (value: unknown) => parseRpc(JSON.stringify(value));

describe("what is written is read back", () => {
  test.each([
    ["request", rpcRequest(1, "m", { a: 1 }), { kind: "request", id: 1, method: "m", params: { a: 1 } }],
    [
      "request with a text id",
      rpcRequest("x", "m", []),
      { kind: "request", id: "x", method: "m", params: [] },
    ],
    ["notification", rpcNotification("m", { a: 1 }), { kind: "notification", method: "m", params: { a: 1 } }],
    ["result", rpcResult(0, null), { kind: "result", id: 0, result: null }],
    [
      "error",
      rpcFailure(2, { code: -32011, message: "FENCED", data: { highestEpoch: 4 } }),
      { kind: "error", id: 2, error: { code: -32011, message: "FENCED", data: { highestEpoch: 4 } } },
    ],
    [
      "error that belongs to no request",
      rpcFailure(null, { code: -32700, message: "not JSON" }),
      { kind: "error", id: null, error: { code: -32700, message: "not JSON" } },
    ],
  ])("%s", (_name, text, expected) => {
    expect(parseRpc(text)).toEqual(expected);
  });
});

describe("what is no message names the error to answer", () => {
  test.each([
    ["not JSON", "{", null, -32700],
    ["empty", "", null, -32700],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"m"}]', null, -32600],
    ["a number", "7", null, -32600],
    ["null", "null", null, -32600],
    ["no version", '{"id":1,"method":"m"}', 1, -32600],
    ["version 1", '{"jsonrpc":"1.0","id":1,"method":"m"}', 1, -32600],
    ["a null id", '{"jsonrpc":"2.0","id":null,"method":"m"}', null, -32600],
    ["an object id", '{"jsonrpc":"2.0","id":{},"method":"m"}', null, -32600],
    ["neither method nor result", '{"jsonrpc":"2.0","id":3}', 3, -32600],
    ["a result without an id", '{"jsonrpc":"2.0","result":1}', null, -32600],
    ["an error that is no error", '{"jsonrpc":"2.0","id":4,"error":"no"}', 4, -32600],
  ])("%s", (_name, text, id, code) => {
    expect(parseRpc(text)).toMatchObject({ kind: "invalid", id, error: { code } });
  });
});

test("a request without params has none", () => {
  expect(parse({ jsonrpc: "2.0", id: 1, method: "m" })).toEqual({
    kind: "request",
    id: 1,
    method: "m",
    params: undefined,
  });
});

test("no text and no JSON value makes it throw", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseRpc(text)));
  const key = fc.constantFrom("jsonrpc", "id", "method", "params", "result", "error");
  const value = fc.oneof(fc.constant("2.0"), fc.jsonValue());
  fc.assert(fc.property(fc.dictionary(key, value), (message) => void parse(message)));
});
