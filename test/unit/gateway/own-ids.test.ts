/** Which answers of a client are taken for answers to a question of this server, and what of them is handed on. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { createOwnIds } from "../../../src/gateway/mcp/request-tracker.js";

function asked() {
  const ids = createOwnIds();
  const { id } = ids.outgoing({ jsonrpc: "2.0", id: 0, method: "elicitation/create" }) as { id: string };
  const answer = (written: string | number, result: object = { action: "accept" }) =>
    ids.incoming({ jsonrpc: "2.0", id: written, result } as JSONRPCMessage);
  return { ids, id, prefix: id.slice(0, -1), answer };
}

test("an answer counts under the id that was asked, and under no other", () => {
  const { id, prefix, answer } = asked();
  expect(answer(id)).toEqual({ jsonrpc: "2.0", id: 0, result: { action: "accept" } });
  for (const wrong of [prefix, `${prefix} `, `${prefix}-0`, `${prefix}0x0`, `${prefix}0.0`, ` ${id}`, "0", 0])
    expect(answer(wrong)).toBeUndefined();
});

test("a task that an answer names is not handed on: nobody asked for one", () => {
  const { id, answer } = asked();
  const result = { action: "accept", task: { taskId: "t".repeat(1_000) }, content: { a: 1 } };
  expect(answer(id, result)).toEqual({
    jsonrpc: "2.0",
    id: 0,
    result: { action: "accept", content: { a: 1 } },
  });
});

test("an error is handed on as it is", () => {
  const { ids, id } = asked();
  const error = { code: -1, message: "no" };
  expect(ids.incoming({ jsonrpc: "2.0", id, error })).toEqual({ jsonrpc: "2.0", id: 0, error });
});
