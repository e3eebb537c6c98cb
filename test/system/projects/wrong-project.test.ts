/** ▲4 A call that was meant for one project never runs in another one's Editor: whatever it is called, wherever it listens. */
import { describe, expect, test } from "vitest";
import { answerOf } from "../../../src/shared/operation/answer.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import { quits } from "../../harness/editor/quits.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import type { Client } from "../../harness/system/client.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { http } = useMcpCallers();

/** What an Editor has begun, by its own account. */
const begunIn = (editor: SimulatedEditor): string[] => editor.counter().map(({ what }) => what);

const finished = async (client: Client, name: string, editor: string): Promise<void> => {
  const { record } = await client.submit("work", { Name: name }, { editor });
  expect((await client.outcome(record.logId)).record).toMatchObject({ state: "completed", editor });
};

/** Its worker has called at its address since the other Editor took it. */
const isCalledWrong = ({ broker }: System, { editorId }: SimulatedEditor): Promise<void> =>
  eventually(async () => {
    const { editors } = await broker.editors();
    return editors.find(({ profile }) => profile.editorId === editorId)?.diagnosis?.code === "WRONG_PROJECT";
  }, "another project answers at its address");

describe("an Editor of another project has taken the port", () => {
  test.each([
    ["with a token of its own", false],
    ["with the same token, in a copy of the project", true],
  ])("%s: what was sent, what waits and what is called now stay with the first", async (_how, isCopy) => {
    const system = await start();
    const { editor, client, bench, away } = system;
    const ann = client();
    const named = { editor: editor.editorId };
    const sent = await ann.submit("work", { Name: "sent", Hold: true }, named);
    await bench.begins("sent");
    const waiting = await ann.submit("work", { Name: "waits" }, named);
    await editor.faults.crash();
    await away(editor);

    const { port, token } = editor;
    const rival = await system.addEditor({ port, ...(isCopy ? { token } : {}) });
    await Promise.all([isCalledWrong(system, editor), system.present(rival)]);
    const byId = await ann.submit("work", { Name: "by id" }, named);
    const byName = await client("bob").submit("work", { Name: "by name" }, { editor: "game-1" });
    const view = answerOf(await ann.reaches(byId.record.logId, "queued"));
    expect(view.diagnosis?.code).toBe("WRONG_PROJECT");
    expect(view.message).toMatch(/Another project answers at .* Nothing was sent to it. Restart the Editor/);
    // Its process may come back, so the only Editor that is connected is not taken for it.
    await expect(ann.submit("work", { Name: "unnamed" })).rejects.toMatchObject({ code: "EDITOR_AMBIGUOUS" });
    await finished(ann, "theirs", rival.editorId);
    await rival.close();
    await editor.faults.restart();

    const ended = await ann.outcome(sent.record.logId);
    expect(ended.record).toMatchObject({ state: "interrupted", error: { code: "OUTCOME_UNKNOWN" } });
    for (const { record } of [waiting, byId])
      expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    await client("bob").outcome(byName.record.logId);
    expect(begunIn(rival)).toEqual(["theirs"]);
    expect(begunIn(editor).sort()).toEqual(["by id", "by name", "sent", "waits"]);
  });
});

describe("a project that is no longer known by its name", () => {
  test("is not found in one whose name begins alike: nothing runs there, and nothing of it answers", async () => {
    const system = await start({ editor: { projectPath: "/projects/Game" } });
    const { editor, client, bench } = system;
    const ann = client();
    await finished(ann, "before", editor.editorId);
    await quits(system);
    await forget(system, editor.editorId);
    const renamed = await system.addEditor({ projectPath: "/projects/Game 2" });
    await system.present(renamed);
    await finished(ann, "there", renamed.editorId);
    for (const name of ["Game", "game", editor.editorId])
      for (const Name of ["new", "there"])
        await expect(ann.submit("work", { Name }, { editor: name })).rejects.toMatchObject({
          code: "EDITOR_UNKNOWN",
          message: expect.stringContaining(renamed.editorId),
          details: { candidates: [expect.objectContaining({ id: renamed.editorId })] },
        });
    // What ran in it is still found by its name.
    expect(await ann.submit("work", { Name: "before" }, { editor: "Game" })).toMatchObject({
      relation: "replayed",
    });
    expect(bench.begun).toEqual(["before", "there"]);
    expect(begunIn(renamed)).toEqual(["there"]);
  });
});

describe("two projects of one name", () => {
  async function twins() {
    const system = await start({ editor: { projectPath: "/main/Game" } });
    const twin = await system.addEditor({ projectPath: "/branch/Game" });
    await system.present(twin);
    const candidates = [system.editor, twin].map(({ editorId }) => expect.objectContaining({ id: editorId }));
    return { ...system, twin, candidates };
  }
  const POOL = { editor: "pool:project=Game" };

  test("the name is refused with both ids, also while one of them is closed; an id runs there", async () => {
    const system = await twins();
    const { client, editor, twin, candidates } = system;
    const ann = client();
    const byName = () => ann.submit("work", { Name: "by name" }, { editor: "Game" });
    const refusal = { code: "EDITOR_AMBIGUOUS", details: { candidates: expect.arrayContaining(candidates) } };
    await expect(byName()).rejects.toMatchObject(refusal);
    await finished(ann, "a", twin.editorId);
    await finished(ann, "b", editor.editorId);
    await quits(system, twin);
    await expect(byName()).rejects.toMatchObject(refusal);
    await finished(ann, "c", editor.editorId);
    expect([begunIn(editor), begunIn(twin)]).toEqual([["b", "c"], ["a"]]);
  });

  test("the pool of the name takes either, each call once", async () => {
    const { client, bench, editor, twin } = await twins();
    const ann = client();
    const names = ["a", "b", "c"];
    const calls = await Promise.all(
      names.slice(0, 2).map((Name) => ann.submit("work", { Name, Hold: true }, POOL)),
    );
    await Promise.all([bench.begins("a"), bench.begins("b")]);
    calls.push(await ann.submit("work", { Name: "c" }, POOL));
    bench.finish("b");
    await ann.outcome(calls[2]?.record.logId ?? "");
    bench.finish("a");
    for (const { record } of calls) await ann.outcome(record.logId);
    expect([...begunIn(editor), ...begunIn(twin)].sort()).toEqual(names);
    expect([begunIn(editor).length, begunIn(twin).length].sort()).toEqual([1, 2]);
  });

  test("what a session has selected never becomes the other: closed it is waited for, forgotten it is asked about", async () => {
    const system = await start({ editor: { projectPath: "/main/Game" } });
    const { gateway, editor } = system;
    const ann = await http(gateway);
    expect(await ann.call("select_editor", { editor: "Game" })).toMatchObject({
      selected: { id: editor.editorId },
    });
    const twin = await system.addEditor({ projectPath: "/branch/Game" });
    await system.present(twin);
    expect(await ann.call("work", { Name: "a" })).toMatchObject({
      status: "completed",
      editor: editor.editorId,
    });

    await quits(system);
    const waiting = await ann.call("work", { Name: "b", timeout: 0 });
    expect(waiting).toMatchObject({ status: "timeout", state: "queued", editor: editor.editorId });
    expect(await ann.call("cancel_operation", { log_id: waiting.log_id })).toMatchObject({
      status: "cancelled",
    });
    await forget(system, editor.editorId);
    const refused = await ann.call("work", { Name: "c" });
    expect(refused).toMatchObject({
      status: "error",
      error_code: "EDITOR_UNKNOWN",
      message: expect.stringMatching(/select_editor chose for this session, is no longer known/),
    });

    const again = await system.addEditor({ projectPath: "/main/Game" });
    await system.present(again);
    expect(await ann.call("work", { Name: "d" })).toMatchObject({
      status: "completed",
      editor: editor.editorId,
    });
    expect([begunIn(again), begunIn(twin)]).toEqual([["a", "d"], []]);
  });
});
