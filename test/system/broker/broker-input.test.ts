import { describe, expect, test } from "vitest";
import type { Client } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** Refused with this code, and nothing was accepted. */
async function refused(
  { broker, bench }: System,
  call: ReturnType<Client["submit"]>,
  code: string,
): Promise<{ message: string; details: Record<string, unknown> }> {
  const error = await call.then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toMatchObject({ name: "BrokerError", code });
  expect(await broker.list("ann", 10)).toEqual([]);
  expect(bench.begun).toEqual([]);
  return error as { message: string; details: Record<string, unknown> };
}

describe("bad input is refused before anything is written", () => {
  test("an unknown tool, with those that are spelled alike", async () => {
    const system = await start();
    const ann = system.client();
    const error = await refused(system, ann.submit("work-cancel"), "UNKNOWN_TOOL");
    expect(error.message).toContain("work-cancellable");
    await refused(system, ann.submit("x".repeat(100_000)), "UNKNOWN_TOOL");
    for (const name of ["__proto__", "constructor", ""]) {
      await refused(system, ann.submit(name), "UNKNOWN_TOOL");
    }
  });

  test("arguments against the schema, each fault with its path", async () => {
    const system = await start();
    const ann = system.client();
    const error = await refused(system, ann.submit("work", { Hold: "yes", More: 1 }), "INVALID_ARGUMENTS");
    expect(error.details.faults).toEqual([
      { path: "/Hold", reason: 'Hold must be a boolean, not the text "yes"' },
      { path: "/More", reason: "there is no parameter More" },
      { path: "/Name", reason: "Name is missing" },
    ]);
    expect(error.message).toBe(
      'The arguments of work are wrong: Hold must be a boolean, not the text "yes"; there is no parameter More; Name is missing. Fix the arguments. Nothing was executed.',
    );
  });

  test("the broker's own parameters", async () => {
    const system = await start();
    const ann = system.client();
    for (const wrong of [{ force_new: 7 }, { idempotency_key: {} }, { editor: "e".repeat(201) }]) {
      await refused(system, ann.submit("work", { Name: "a" }, wrong), "INVALID_ARGUMENTS");
      await refused(system, ann.submit("work", { Name: "a", ...wrong }), "INVALID_ARGUMENTS");
    }
  });

  test("integers whose digits are lost already, wherever they are", async () => {
    const system = await start();
    const ann = system.client();
    const Data = { ids: [1, { id: 2 ** 53 }] };
    await refused(system, ann.submit("work", { Name: "a", Data }), "INTEGER_TOO_LARGE");
    await refused(system, ann.submit("work", { Name: "a", Data: -1e300 }), "INTEGER_TOO_LARGE");
  });

  test("arguments that nest 100 000 levels deep", async () => {
    const system = await start();
    let Data: unknown = {};
    for (let level = 0; level < 100_000; level += 1) Data = level % 2 ? [Data] : { Data };
    const error = await refused(
      system,
      system.client().submit("work", { Name: "a", Data }),
      "ARGUMENTS_TOO_DEEP",
    );
    expect(error.message.length).toBeLessThan(500);
  });

  test("arguments that no frame can carry", async () => {
    const system = await start();
    const Data = "ä".repeat(500_001);
    await refused(system, system.client().submit("work", { Name: "a", Data }), "ARGUMENTS_TOO_LARGE");
  });

  test("a force_new that is no log_id, is unknown, of another call, or another principal's", async () => {
    const system = await start();
    const { client, bench, broker } = system;
    const ann = client();
    for (const force_new of ["true", "9f8c1c1e-0000-4000-8000-000000000000"]) {
      const submit = ann.submit("work", { Name: "b" }, { force_new });
      const { details } = await refused(system, submit, "INVALID_ARGUMENTS");
      expect(details).toMatchObject({ faults: [{ path: "/force_new" }] });
    }
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    for (const [caller, Name] of [
      [ann, "b"],
      [client("bob"), "a"],
    ] as const) {
      await expect(caller.submit("work", { Name }, { force_new: record.logId })).rejects.toMatchObject({
        code: "INVALID_ARGUMENTS",
        message: expect.stringContaining("Send the call without force_new.") as string,
        details: { faults: [{ path: "/force_new" }] },
      });
    }
    expect(await broker.list("bob", 10)).toEqual([]);
    expect(bench.begun).toEqual(["a"]);
  });
});

test("the Editor gets arguments as its schema spells them; a call is the same one if it was written alike", async () => {
  const { client, broker, bench } = await start();
  const ann = client();
  const write = async (args: Record<string, unknown>) => {
    const { record, relation } = await ann.submit("work", args);
    await ann.outcome(record.logId);
    return { record, relation, sent: await broker.results.argumentsOf(record) };
  };
  const first = await write({ name: "a", HOLD: "" });
  expect(first.sent).toEqual({ Name: "a" });
  expect(await write({ name: "a", HOLD: "" })).toMatchObject({
    relation: "replayed",
    record: { logId: first.record.logId },
  });
  expect(await write({ Name: "a" })).toMatchObject({ relation: "created", sent: { Name: "a" } });
  expect(bench.begun).toEqual(["a", "a"]);
});

test("arguments that just fit a frame arrive whole", async () => {
  const { client, editor } = await start();
  const ann = client();
  const Data = "ä".repeat(499_950);
  const { record } = await ann.submit("work", { Name: "a", Data });
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
  expect(editor.counter()).toHaveLength(1);
});

test("without any Editor ever seen there is no operation, and the answer says what to do", async () => {
  const system = await start({ worker: null });
  const error = await refused(system, system.client().submit("work", { Name: "a" }), "NO_EDITOR");
  expect(error.message).toContain("Open the project in Unity");
});
