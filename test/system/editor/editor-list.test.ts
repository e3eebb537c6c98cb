/** `operation/list` of both Editors, over TCP: what a store that lost everything is told. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../../harness/editor/dotnet.js";
import { type EditorUnderTest, startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import type { Params } from "../simulator/simulator-client.js";

const block = (seconds: number): Params => ({
  arguments: { MenuItemPath: `Simulator/Block For ${seconds} Seconds` },
});
let operations = 0;
const fresh = (): string => {
  operations += 1;
  return `op-${operations}`;
};

describe.each(ENGINES)("the %s Editor", (engine) => {
  let editor: EditorUnderTest;
  beforeAll(async () => {
    editor = await startEditorUnderTest(engine);
  });
  afterAll(() => editor.close());

  test("what it knows is listed, with what a store that lost it needs", async () => {
    const owner = await editor.owner();
    const operationId = fresh();
    await owner.submit(operationId, block(0.01));
    expect(await owner.finished(operationId)).toMatchObject({ status: "completed" });
    const operations = await owner.list();
    const reported = {
      operationId,
      state: "completed",
      hash: `hash-of-${operationId}`,
      after: null,
      origin: { principal: "local" },
      acceptedAt: expect.any(Number),
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      endedIn: { generation: expect.any(Number), assetCounter: expect.any(Number) },
    };
    const listed = operations.find((each) => each.operationId === operationId);
    expect(listed).toMatchObject(reported);
    expect(Object.keys(listed ?? {})).not.toContain("arguments");
    expect(Object.keys(listed ?? {})).not.toContain("outcome");

    await owner.request("operation/ack", { operationIds: [operationId] });
    const after = await owner.list();
    expect(after.find((each) => each.operationId === operationId)).toMatchObject(reported);
  });

  test("a long list comes in pages, in the order of acceptance", async () => {
    const owner = await editor.owner();
    const ids = Array.from({ length: 600 }, fresh);
    const at = Date.now();
    for (const [index, id] of ids.entries()) {
      await owner.submit(id, { arguments: { MenuItemPath: "Assets/Refresh" }, acceptedAt: at + index });
    }
    for (const id of ids) await owner.finished(id);
    const running = fresh();
    await owner.submit(running, block(0.3));
    await owner.notice("operation/running", (params) => params.operationId === running);

    const first = await owner.request("operation/list", {});
    expect(first.operations).toHaveLength(500);
    expect(await owner.refusal("operation/list", { cursor: "no cursor" })).toMatchObject({ code: -32602 });

    const all = (await owner.list()).map((each) => each.operationId);
    expect(all).toEqual(expect.arrayContaining([...ids, running]));
    const places = [...ids, running].map((id) => all.indexOf(id));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    await owner.finished(running);
  });
});
