import { describe, expect, test } from "vitest";
import { readConfig } from "../../../../src/shared/config.js";
import { isRead } from "../../../../src/shared/wire/plain.js";
import { knowsNoHello } from "../../../../src/shared/wire/uloop.js";

const internal = (message: string) => ({
  code: -32603,
  message: "Internal error",
  data: { type: "internal_error", message },
});
const blocked = (command: string) => ({
  code: -32603,
  message: "Tool blocked by security settings",
  data: { type: "security_blocked", command, reason: "unknown" },
});

describe("an Editor without hello", () => {
  test.each([
    { code: -32601, message: "Method not found" },
    internal("Unknown tool: bridge/hello"),
    internal("Unknown command: bridge/hello"),
    blocked("bridge/hello"),
  ])("is one that answers $message ($code)", (error) => {
    expect(knowsNoHello(error)).toBe(true);
  });

  test.each([
    { code: -32010, message: "Wrong token" },
    { code: -32014, message: "bridge/hello: the ledger was not found" },
    internal("The ledger cannot be opened: file not found"),
    internal("Unknown error in bridge startup"),
    blocked("ping"),
  ])("is not one that answers $message ($code)", (error) => {
    expect(knowsNoHello(error)).toBe(false);
  });
});

test("a call is a read only where the record and the Editor agree", () => {
  expect(isRead({ effect: "read_only" }, "x", "read_only")).toBe(true);
  expect(isRead(undefined, "get-x", "read_only")).toBe(true);
  expect(isRead({ effect: "mutating" }, "get-x", "read_only")).toBe(false);
  expect(isRead({ effect: "read_only" }, "x", "mutating")).toBe(false);
  expect(isRead(undefined, "x", "read_only")).toBe(false);
});

describe("UNITY_BROKER_EDITORS", () => {
  const named = (text: string) => readConfig({ UNITY_BROKER_EDITORS: text }).UNITY_BROKER_EDITORS;

  test("names addresses and project folders", () => {
    expect(
      named("My Game=127.0.0.1:8700, 8701 ,/projects/Shop,C:\\Projects\\Game,host.docker.internal:8702"),
    ).toEqual([
      { name: "My Game", host: "127.0.0.1", port: 8700 },
      { host: "127.0.0.1", port: 8701 },
      { project: "/projects/Shop" },
      { project: "C:\\Projects\\Game" },
      { host: "host.docker.internal", port: 8702 },
    ]);
    expect(named("")).toEqual([]);
  });

  test.each(["game", "host:0", "host:99999", "relative/folder"])("%s is refused", (text) => {
    expect(() => named(text)).toThrow(/neither host:port nor the full path/);
  });
});
