import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonBytes } from "../../src/shared/json-bytes.js";
import { estimatedTokens } from "../../src/shared/token-estimate.js";
import { anyItem, writtenBytes } from "./large-document.js";

test("sizes are counted as JSON.stringify writes them", () => {
  fc.assert(fc.property(anyItem, (value) => jsonBytes(value) === writtenBytes(value)));
  for (const value of [-0, 1e21, 1e-7, 0.1 + 0.2, Number.POSITIVE_INFINITY, "\ud800", "\u2028\u007f", {}]) {
    expect(jsonBytes(value)).toBe(writtenBytes(value));
  }
});

test("tokens are estimated at three characters each", () => {
  expect(estimatedTokens("")).toBe(0);
  expect(estimatedTokens('{"a"')).toBe(2);
  expect(estimatedTokens(60_000)).toBe(20_000);
});
