/**
 * Where an Editor stood when an execution ended: `endedIn`, which a later call is compared by. What an execution did
 * itself must be in it already, else its own retry would be told that the Editor has changed since.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Standing } from "../../../src/shared/wire/wire.js";
import { ENGINES } from "../../harness/editor/dotnet.js";
import { type EditorUnderTest, startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { eventually } from "../../harness/eventually.js";
import type { Owner, Params } from "../simulator/simulator-client.js";

let operations = 0;
const fresh = (): string => {
  operations += 1;
  return `op-${operations}`;
};

describe.each(ENGINES)("the end of an execution in the %s Editor", (engine) => {
  let editor: EditorUnderTest;
  beforeAll(async () => {
    editor = await startEditorUnderTest(engine);
  });
  afterAll(() => editor.close());

  /** The arguments of a compilation, with or without a reload behind it. */
  const compilation = async (reloads: boolean): Promise<Params> => {
    if (engine === "dotnet") await editor.do({ do: "script", compileReloads: reloads });
    return engine === "dotnet" ? {} : { SimulatedSeconds: 0, SimulatedReload: reloads };
  };
  /** Hello, as soon as the Editor listens again. */
  const reconnected = async (): Promise<Owner> => {
    let owner: Owner | undefined;
    await eventually(async () => {
      owner = await editor.owner().catch(() => undefined);
      return owner !== undefined;
    }, "the Editor listens again");
    if (!owner) throw new Error("no hello");
    return owner;
  };
  const standingOf = ({ editorSessionId, generation, assetCounter }: Params): Params => ({
    editorSessionId,
    generation,
    assetCounter,
  });
  /** Runs it on a connection that stays, and compares with the next heartbeat and the next hello. */
  const endsInPlace = async (fields: Params): Promise<{ before: Params; endedIn: Standing }> => {
    const owner = await editor.owner();
    const id = fresh();
    await owner.submit(id, fields);
    const { endedIn } = await owner.finished(id);
    expect(endedIn).toEqual(standingOf(endedIn ?? {}));
    for (const _told of owner.unread("bridge/heartbeat")) await owner.notice("bridge/heartbeat");
    expect(standingOf(await owner.notice("bridge/heartbeat"))).toEqual(endedIn);
    await owner.request("operation/ack", { operationIds: [id] });
    owner.close();
    expect(standingOf((await editor.owner()).hello)).toEqual(endedIn);
    return { before: standingOf(owner.hello), endedIn: endedIn as Standing };
  };
  /** Runs it over a reload that ends the connection. */
  const endsBehindReload = async (
    fields: Params,
  ): Promise<{ before: Params; endedIn: Standing; after: Params }> => {
    const owner = await editor.owner();
    const id = fresh();
    await owner.submit(id, fields);
    await owner.gone;
    const next = await reconnected();
    const { status, endedIn } = await next.finished(id);
    expect(status).toBe("completed");
    for (const _told of next.unread("bridge/heartbeat")) await next.notice("bridge/heartbeat");
    const after = standingOf(await next.notice("bridge/heartbeat"));
    expect(after).toEqual(standingOf(next.hello));
    await next.request("operation/ack", { operationIds: [id] });
    return { before: standingOf(owner.hello), endedIn: endedIn as Standing, after };
  };

  test("has what a compilation changed, and nothing follows where it announces nothing", async () => {
    const { before, endedIn } = await endsInPlace({ tool: "compile", arguments: await compilation(false) });
    expect(endedIn.generation).toBe(before.generation);
    expect(endedIn.assetCounter).toBe(Number(before.assetCounter) + 1);
  });

  test("announces the reload behind a compilation, and nothing else follows", async () => {
    const { before, endedIn, after } = await endsBehindReload({
      tool: "compile",
      arguments: await compilation(true),
    });
    expect(endedIn.assetCounter).toBe(Number(before.assetCounter) + 1);
    // CallAnswer before the reload it announces it; a bridge that only knows its end behind the reload stands there already.
    const { reloadAnnounced, ...standing } = endedIn;
    const follows = reloadAnnounced ? 1 : 0;
    expect({ ...standing, generation: standing.generation + follows }).toEqual(after);
    expect(after.generation).toBe(Number(before.generation) + 1);
  });

  test("of tests in Edit Mode changes nothing", async () => {
    const { before, endedIn } = await endsInPlace({ tool: "run-tests", arguments: {} });
    expect(endedIn).toEqual(before);
  });

  test("of tests in Play Mode stands behind the reload that they made, and announces none", async () => {
    const { before, endedIn, after } = await endsBehindReload({
      tool: "run-tests",
      arguments: { TestMode: "PlayMode" },
    });
    expect(endedIn).toEqual(after);
    expect(endedIn.generation).toBe(Number(before.generation) + 1);
  });
});
