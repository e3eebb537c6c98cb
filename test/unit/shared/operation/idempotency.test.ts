import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findUnhashable, hashesOf, type JsonObject } from "../../../../src/shared/operation/decide.js";

const hashOf = (call: Parameters<typeof hashesOf>[0]): string => hashesOf(call).hash;
const fingerprintOf = (tool: string, args: JsonObject): string =>
  hashesOf({ principal: "anybody", tool, arguments: args }).fingerprint;

const build = { principal: "local", tool: "build-player", arguments: { target: "Android", clean: true } };

describe("▲3 two calls are the same call exactly when their hashes are equal", () => {
  test("▲3 the order of keys and the spelling of numbers do not matter", () => {
    const one = hashOf({ ...build, arguments: JSON.parse('{"a":1.0,"b":{"x":1e2,"y":"ä"}}') as JsonObject });
    const other = hashOf({
      ...build,
      arguments: JSON.parse('{"b":{"y":"\\u00e4","x":100},"a":1}') as JsonObject,
    });
    expect(one).toBe(other);
  });

  test("▲3 the principal, the tool, every argument and the order of a list matter", () => {
    const hashes = [
      build,
      { ...build, principal: "other" },
      { ...build, tool: "run-tests" },
      { ...build, arguments: { target: "iOS", clean: true } },
      { ...build, arguments: { target: "Android" } },
      { ...build, arguments: { list: [1, 2] } },
      { ...build, arguments: { list: [2, 1] } },
      { ...build, arguments: { list: null } },
      { ...build, arguments: {} },
    ].map(hashOf);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("▲3 it is the SHA-256 of the canonical JSON, in hex", () => {
    const canonical =
      '{"arguments":{"clean":true,"target":"Android"},"principal":"local","tool":"build-player"}';
    expect(hashOf(build)).toBe(createHash("sha256").update(canonical).digest("hex"));
  });

  test("▲3 with a key, the key and the principal alone are hashed", () => {
    const keyed = hashOf({ ...build, key: "nightly" });
    expect(hashOf({ ...build, key: "nightly", tool: "run-tests", arguments: {} })).toBe(keyed);
    expect(hashOf({ ...build, key: "other" })).not.toBe(keyed);
    expect(hashOf({ ...build, key: "nightly", principal: "other" })).not.toBe(keyed);
    expect(hashOf(build)).not.toBe(keyed);
  });

  test("▲3 the fingerprint depends on tool and arguments, not on the caller", () => {
    expect(fingerprintOf("a", { x: 1 })).toBe(fingerprintOf("a", { x: 1 }));
    expect(fingerprintOf("a", { x: 1 })).not.toBe(fingerprintOf("a", { x: 2 }));
    expect(fingerprintOf("a", {})).not.toBe(fingerprintOf("b", {}));
  });

  test("▲3 any arguments keep their hash on the way through JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const again = JSON.parse(JSON.stringify(args)) as JsonObject;
        expect(hashOf({ ...build, arguments: again })).toBe(
          hashOf({ ...build, arguments: args as JsonObject }),
        );
      }),
    );
  });
});

describe("▲3 what would let two calls collapse into one", () => {
  test("schedule T: two delete calls whose ids differ beyond 2^53 are refused, not confused", () => {
    const one = JSON.parse('{"instanceId": 9007199254740993}') as JsonObject;
    const other = JSON.parse('{"instanceId": 9007199254740992}') as JsonObject;
    expect(hashOf({ ...build, arguments: one })).toBe(hashOf({ ...build, arguments: other }));
    expect(findUnhashable(one)).toEqual({ code: "INTEGER_TOO_LARGE", path: "/instanceId" });
    expect(findUnhashable(other)).toEqual({ code: "INTEGER_TOO_LARGE", path: "/instanceId" });
  });

  test("▲3 the place is named, deep inside lists and objects, and below zero", () => {
    expect(findUnhashable({ a: [{ b: [1, -(2 ** 60)] }] })).toEqual({
      code: "INTEGER_TOO_LARGE",
      path: "/a/0/b/1",
    });
  });

  test("▲3 ids within 2^53, fractions and texts of digits are fine", () => {
    expect(
      findUnhashable({ a: Number.MAX_SAFE_INTEGER, b: 0.1, c: "9007199254740993", d: null }),
    ).toBeUndefined();
  });

  test.each([
    ["half a surrogate pair", '{"a": ["\\ud83d"]}', "/a/0"],
    ["one in a name", '{"a": {"\\ude00": 1}}', "/a"],
    ["a number beyond all numbers", '{"a": 1e400}', "/a"],
  ])("▲3 %s has no canonical form: its place is named", (_what, text, path) => {
    const args = JSON.parse(text) as JsonObject;
    expect(() => hashOf({ ...build, arguments: args })).toThrow();
    expect(findUnhashable(args)).toEqual({ code: "INVALID_ARGUMENTS", path });
    expect(findUnhashable({ a: "\u{1f600}" })).toBeUndefined();
  });

  test("▲3 arguments 100 000 levels deep are refused without overflowing the stack", () => {
    const deep = JSON.parse(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`) as JsonObject;
    expect(findUnhashable(deep)?.code).toBe("ARGUMENTS_TOO_DEEP");
  });

  test("▲3 200 levels are allowed, one more is not", () => {
    const nested = (levels: number) =>
      JSON.parse(`{"a":${"[".repeat(levels)}1${"]".repeat(levels)}}`) as JsonObject;
    expect(findUnhashable(nested(199))).toBeUndefined();
    expect(findUnhashable(nested(200))?.code).toBe("ARGUMENTS_TOO_DEEP");
  });
});
