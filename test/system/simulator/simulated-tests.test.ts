/** run-tests of the simulated Editor: what it refuses, compiles first and lists. */
import { afterEach, describe, expect, test } from "vitest";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { createStage } from "./simulator-client.js";

const stage = createStage();
afterEach(async () => {
  await stage.clear();
  await expectNoLeak();
});

async function called() {
  const editor = await stage.editor();
  const owner = await stage.owner(editor);
  let calls = 0;
  return async (tool: string, args: object = {}) => {
    calls += 1;
    const id = `call-${calls}`;
    await owner.submit(id, { tool, arguments: { SimulatedSeconds: 0, ...args } });
    return owner.finished(id);
  };
}

describe("run-tests of the simulated Editor", () => {
  test("refuses while the last compilation failed, with its messages", async () => {
    const call = await called();
    await call("compile", { SimulatedErrors: 2 });
    const refused = await call("run-tests");
    expect(refused.error?.type).toBe("compile_errors");
    expect(refused.error?.message).toContain("Assets/Scripts/Script1.cs(2): error CS1002: ; expected");
    await call("compile");
    expect(await call("run-tests")).toMatchObject({ result: { Success: true } });
  });

  test("compiles what was edited first, also after a compilation that failed", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const failedOf = async (id: string) => {
      await owner.submit(id, { tool: "run-tests", arguments: { SimulatedSeconds: 0 } });
      return ((await owner.finished(id)).result as { failed: number }).failed;
    };
    expect(await failedOf("before")).toBe(0);
    await owner.submit("broken", { tool: "compile", arguments: { SimulatedErrors: 1, SimulatedSeconds: 0 } });
    await owner.finished("broken");
    editor.edit(2);
    expect(await failedOf("after")).toBe(2);
    expect(await failedOf("again")).toBe(2);
  });

  test("an expression that takes too long is refused, and so is that of get-logs", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor);
    const refused = async (id: string, tool: string, args: object) => {
      await owner.submit(id, { tool, arguments: args });
      return (await owner.finished(id)).error;
    };
    expect(
      await refused("tests", "run-tests", { FilterType: "regex", FilterValue: "^(\\w|\\w|\\w|\\w|\\.)+!$" }),
    ).toMatchObject({
      type: "invalid_arguments",
      message: "FilterValue takes too long to match; write a simpler regular expression.",
    });
    editor.log("Log", "a".repeat(60));
    expect(await refused("logs", "get-logs", { SearchText: "^(a|a|a)+!$", UseRegex: true })).toMatchObject({
      type: "invalid_arguments",
    });
    expect(await refused("none", "get-logs", { SearchText: "(", UseRegex: true })).toMatchObject({
      message: expect.stringMatching(/^SearchText is not a regular expression/),
    });
  });

  test("lists the tests that are asked for", async () => {
    const call = await called();
    const names = async (args: object): Promise<string[] | undefined> => {
      const { result } = await call("run-tests", { SimulatedTests: 3, SimulatedFailures: 1, ...args });
      return (result as { cases?: { name: string }[] }).cases?.map(({ name }) => name.slice(-1));
    };
    expect(await names({})).toBeUndefined();
    expect(await names({ ReportResults: "failed" })).toEqual(["1"]);
    expect(await names({ ReportResults: "passed" })).toEqual(["2", "3"]);
    expect(await names({ ReportName: "[12]$" })).toEqual(["1", "2"]);
    expect(await names({ ReportResults: "passed", ReportName: "[12]$" })).toEqual(["2"]);
    expect(await call("run-tests", { ReportName: "(" })).toMatchObject({
      error: { type: "invalid_arguments" },
    });
  });
});
