import { expect, test } from "vitest";
import { headerMismatch } from "../../../src/gateway/mcp/revision-2026/http.js";

const call = (name: unknown, method = "tools/call") =>
  ({ jsonrpc: "2.0", id: 1, method, params: { name } }) as Parameters<typeof headerMismatch>[1];
const headers = (name?: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  ...(name === undefined ? {} : { "mcp-name": name }),
});
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

test.each([
  ["the same name", "work", call("work")],
  ["a name that needs Base64", base64("Wörk"), call("Wörk")],
  ["a name that looks like Base64", base64("=?base64?x?="), call("=?base64?x?=")],
  ["a method without a name", undefined, call("work", "tools/list")],
  ["no name in the body, which the method refuses", undefined, call(7)],
])("%s agrees", (_what, header, message) => {
  expect(headerMismatch(headers(header), message)).toBeUndefined();
});

test.each([
  ["another name", "look"],
  ["other letters", "WORK"],
  ["no name", undefined],
  ["damaged Base64", "=?base64?d29ya?="],
  ["Base64 in capitals", `=?BASE64?${Buffer.from("work").toString("base64")}?=`],
])("%s does not", (_what, header) => {
  expect(headerMismatch(headers(header), call("work"))).toMatchObject({ code: -32020 });
});
