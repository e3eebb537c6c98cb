import { expect, test } from "vitest";
import { callerOf, declaredCaller } from "../../../src/shared/principal.js";
import { HTTP, LATER_SESSION, STDIO } from "./record.js";

test("the runs of a command that gives one name are one caller, over any transport, which says itself what it has read", () => {
  const [first, again, other] = [
    callerOf(HTTP, declaredCaller("ann's shell")),
    callerOf(STDIO, declaredCaller("ann's shell")),
    callerOf(LATER_SESSION, declaredCaller("bob's shell")),
  ];
  expect(first).toMatchObject({ transport: "http", readsByName: true });
  expect(again).toEqual({ ...first, transport: "stdio" });
  expect(other.id).not.toBe(first.id);
});

test("a client that gives none is its session", () => {
  for (const capabilities of [undefined, {}, { experimental: {} }, declaredCaller(""), { experimental: 7 }])
    expect(callerOf(HTTP, capabilities)).toBe(HTTP);
});
