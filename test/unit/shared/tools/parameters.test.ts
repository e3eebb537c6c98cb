import { describe, expect, test } from "vitest";
import { offerParameters, takeParameters } from "../../../../src/shared/tools/call-rules.js";
import { completeTool, type Tool } from "../../../../src/shared/tools/tool.js";

const plain = completeTool({ name: "build", description: "" });
const clashing = completeTool({
  name: "run-tests",
  description: "",
  inputSchema: { type: "object", properties: { timeout: { type: "string" } } },
});

describe("▲3 the broker's own parameters are no part of a call", () => {
  test("▲3 they are taken out of the arguments", () => {
    const args = { target: "iOS", timeout: 2.5, idempotency_key: "k", force_new: "op1", editor: "shop" };
    expect(takeParameters(plain, args)).toEqual({
      arguments: { target: "iOS" },
      parameters: { timeout: 2.5, idempotencyKey: "k", forceNew: "op1", editor: "shop" },
      wrong: [],
    });
    expect(args).toHaveProperty("timeout");
  });

  test("▲3 a call with another wait is the same call", () => {
    const one = takeParameters(plain, { target: "iOS", timeout: 1 }).arguments;
    expect(takeParameters(plain, { target: "iOS", timeout: 60 }).arguments).toEqual(one);
  });

  test("a tool's own parameter of that name is its own; ours has a prefix there", () => {
    const taken = takeParameters(clashing, { timeout: "5m", broker_timeout: 3, editor: "shop" });
    expect(taken.arguments).toEqual({ timeout: "5m" });
    expect(taken.parameters).toEqual({ timeout: 3, editor: "shop" });
  });

  test("they are accepted in _meta too, with and without the prefix", () => {
    expect(takeParameters(plain, {}, { timeout: 0, broker_editor: "shop" }).parameters).toEqual({
      timeout: 0,
      editor: "shop",
    });
  });

  test.each([
    [7, 7],
    ["long", "x".repeat(201)],
    [{}, {}],
  ])("a text that is %j is named as wrong", (_name, value) => {
    const { wrong, parameters } = takeParameters(plain, { idempotency_key: value });
    expect(wrong).toEqual(["idempotency_key must be a string of 1 to 200 characters"]);
    expect(parameters.idempotencyKey).toBeUndefined();
  });

  test("null and an empty text mean not given", () => {
    const empty = { force_new: null, editor: "", timeout: "", idempotency_key: "", if_away: null };
    const none = { wrong: [], arguments: {}, parameters: { timeout: undefined } };
    expect(takeParameters(plain, empty)).toEqual(none);
    expect(takeParameters(plain, {}, empty)).toEqual(none);
  });

  test("they are understood in other spellings, except for one that is a parameter of the tool", () => {
    const spelled = { idempotencyKey: "k", "force-new": "op1", Editor: "shop", Timeout: 3 };
    expect(takeParameters(plain, spelled)).toMatchObject({
      arguments: {},
      parameters: { idempotencyKey: "k", forceNew: "op1", editor: "shop", timeout: 3 },
    });
    const capital = completeTool({
      name: "t",
      description: "",
      inputSchema: { properties: { Timeout: {} } },
    });
    const taken = takeParameters(capital, { timeOut: 1, timeout: 3 });
    expect(taken).toMatchObject({ arguments: { timeOut: 1 }, parameters: { timeout: 3 } });
  });
});

describe("offering them", () => {
  test("those that can matter are in the tool's schema, its own properties untouched", () => {
    const offered = (tool: Tool, several: boolean) =>
      Object.keys(offerParameters(tool, { several }).properties ?? {});
    expect(offered(plain, true)).toEqual(["timeout", "idempotency_key", "force_new", "editor"]);
    // One Editor need not be named, and a call that runs again anyway needs no way to have it run again.
    expect(offered(plain, false)).toEqual(["timeout", "idempotency_key", "force_new"]);
    expect(offered({ ...plain, effect: "repeatable" }, true)).toEqual(["timeout", "editor"]);
    expect(offerParameters(plain, { several: true }).required).toBeUndefined();
  });

  test("under the prefix where the tool has that name itself", () => {
    const { properties = {} } = offerParameters(clashing, { several: true });
    expect(properties.timeout).toEqual({ type: "string" });
    expect(properties).toHaveProperty("broker_timeout");
    expect(properties).not.toHaveProperty("broker_editor");
  });
});
