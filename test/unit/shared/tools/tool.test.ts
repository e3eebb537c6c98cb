import { describe, expect, test } from "vitest";
import { countsAsChange } from "../../../../src/shared/operation/operation.js";
import {
  completeTool,
  describedAs,
  isAlwaysRepeatable,
  ToolDetails,
} from "../../../../src/shared/tools/tool.js";

const complete = (details: object) => completeTool(ToolDetails.parse({ description: "", ...details }));

describe("what may be assumed of a tool whose bridge says little", () => {
  test.each([
    ["ping", "read_only"],
    ["get-logs", "read_only"],
    ["find-game-objects", "read_only"],
    ["unity-search", "read_only"],
    ["compile", "repeatable"],
    ["set-active", "repeatable"],
    ["save-scene", "repeatable"],
    ["build-player", "mutating"],
    ["run-tests", "repeatable"],
    ["execute-menu-item", "mutating"],
    ["compile-and-delete", "mutating"],
    ["forget-everything", "mutating"],
  ])("%s is %s by its name", (name, effect) => {
    expect(complete({ name }).effect).toBe(effect);
  });

  test("▲6 what the bridge says weighs more than the name, both ways", () => {
    expect(complete({ name: "get-and-delete", annotations: { readOnlyHint: false } }).effect).toBe(
      "mutating",
    );
    expect(complete({ name: "build-player", annotations: { readOnlyHint: true } }).effect).toBe("read_only");
    expect(complete({ name: "do-it", annotations: { idempotentHint: true } }).effect).toBe("repeatable");
    expect(complete({ name: "save-scene", annotations: { idempotentHint: false } }).effect).toBe("mutating");
  });

  test.each(["run-tests", "compile"])("▲6 %s is repeatable, whatever its bridge says", (name) => {
    for (const annotations of [{ idempotentHint: false }, { readOnlyHint: false }, { readOnlyHint: true }]) {
      expect(complete({ name, annotations }).effect).toBe("repeatable");
    }
    expect(isAlwaysRepeatable(name)).toBe(true);
    expect(isAlwaysRepeatable("save-scene")).toBe(false);
  });

  test.each([
    { name: "get-hierarchy" },
    { name: "get-and-delete", annotations: { readOnlyHint: false } },
    { name: "build-player", annotations: { readOnlyHint: true, title: "Build" } },
    { name: "do-it", annotations: { idempotentHint: true, destructiveHint: false, openWorldHint: true } },
    { name: "save-scene", annotations: { idempotentHint: false }, executionClass: "long" },
    { name: "run-tests", annotations: { readOnlyHint: true }, lane: "background", resumable: true },
    { name: "ping", lane: "background", cancellable: true },
    { name: "work", inputSchema: { properties: { Name: { type: "string" } }, required: ["Name"] } },
  ])("$name is the same tool when its description is read again", (details) => {
    const tool = complete(details);
    expect(complete(JSON.parse(JSON.stringify(describedAs(tool))))).toEqual(tool);
  });

  test("what only its name says is not written down as a hint of its bridge", () => {
    expect(describedAs(complete({ name: "get-hierarchy" })).annotations).toEqual({});
    expect(
      describedAs(complete({ name: "run-tests", annotations: { readOnlyHint: true } })).annotations,
    ).toEqual({});
  });

  test("▲5 what counts as a change: everything but reads and tests", () => {
    expect(countsAsChange({ tool: "build-player", effect: "mutating" })).toBe(true);
    expect(countsAsChange({ tool: "compile", effect: "repeatable" })).toBe(true);
    expect(countsAsChange({ tool: "save-scene", effect: "repeatable" })).toBe(true);
    expect(countsAsChange({ tool: "run-tests", effect: "repeatable" })).toBe(false);
    expect(countsAsChange({ tool: "get-logs", effect: "read_only" })).toBe(false);
  });

  test("clients are told the same effect that the broker acts on", () => {
    expect(complete({ name: "build-player" }).annotations).toMatchObject({
      readOnlyHint: false,
      idempotentHint: false,
    });
    expect(complete({ name: "compile" }).annotations).toMatchObject({
      readOnlyHint: false,
      idempotentHint: true,
    });
    expect(complete({ name: "ping" }).annotations).toMatchObject({
      readOnlyHint: true,
      idempotentHint: true,
    });
  });

  test("invariant 6: only ping and get-logs leave the main lane, whatever a bridge says", () => {
    expect(complete({ name: "ping" }).lane).toBe("background");
    expect(complete({ name: "get-logs", lane: "background" }).lane).toBe("background");
    expect(complete({ name: "get-logs", lane: "main" }).lane).toBe("main");
    expect(complete({ name: "get-hierarchy", lane: "background" }).lane).toBe("main");
  });

  test("nothing can be cancelled or resumed unless the bridge says so", () => {
    expect(complete({ name: "a" })).toMatchObject({ cancellable: false, resumable: false });
    expect(complete({ name: "a", cancellable: true, resumable: true })).toMatchObject({
      cancellable: true,
      resumable: true,
    });
  });
});

describe("the schema of its arguments", () => {
  test("uLoop's description becomes JSON Schema", () => {
    const parameterSchema = {
      Properties: {
        Mode: { Type: "enum", Description: "Which tests", Enum: ["edit", "play"], DefaultValue: "edit" },
        Deep: { Type: "boolean", DefaultValue: null },
      },
      Required: ["Mode"],
    };
    expect(complete({ name: "a", parameterSchema }).inputSchema).toEqual({
      type: "object",
      properties: {
        Mode: { type: "string", description: "Which tests", enum: ["edit", "play"], default: "edit" },
        Deep: { type: "boolean" },
      },
      required: ["Mode"],
    });
  });

  test("a bridge's own JSON Schema is kept, and nothing said allows an object", () => {
    const inputSchema = { properties: { x: { type: "number" } } };
    expect(complete({ name: "a", inputSchema }).inputSchema).toEqual({ ...inputSchema, type: "object" });
    expect(complete({ name: "a" }).inputSchema).toEqual({ type: "object", properties: {} });
  });
});
