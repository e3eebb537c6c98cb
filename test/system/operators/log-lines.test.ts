/** What a person finds in the logs of gateway and worker by an operation's log_id, an Editor or a principal. */
import { expect, test } from "vitest";
import { fieldsOf } from "../../../src/shared/operation/operation.js";
import { withFields } from "../../../src/shared/telemetry.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("an operation's lines have its log_id, its Editor and its principal", async () => {
  const system = await start();
  const ann = system.client("ann");
  const { record } = await ann.submit("work", { Name: "logged", Data: "a secret of the call" });
  await ann.outcome(record.logId);
  const about = [`log_id: '${record.logId}'`, `editor: '${system.editor.editorId}'`, "principal: 'ann'"];
  const isAbout = (line: string): boolean => about.every((field) => line.includes(field));
  const said = (message: string): string | undefined =>
    system.warnings.find((line) => line.includes(` ${message} {`) && isAbout(line));
  await eventually(() => said("an operation has ended") !== undefined, "the worker says it");
  expect(said("an operation has ended")).toContain("state: 'completed'");
  expect(said("a call was accepted")).toContain("tool: 'work', relation: 'created'");
  await ann.submit("work", { Name: "logged", Data: "a secret of the call" });
  await eventually(
    () => system.warnings.some((line) => isAbout(line) && line.includes("relation: 'replayed'")),
    "the replay is said",
  );
  await expect(ann.submit("no-such-tool")).rejects.toThrow();
  expect(system.warnings.join("\n")).toMatch(
    /a call was refused \{ principal: 'ann', tool: 'no-such-tool', error_code: 'UNKNOWN_TOOL' \}/,
  );
  expect(system.warnings.join("\n")).not.toContain("secret");
});

test("every line of an Editor's owner has the Editor", async () => {
  const system = await start();
  const named = `editor: '${system.editor.editorId}'`;
  system.editor.faults.dropConnections();
  await eventually(
    () =>
      system.warnings.some(
        (line) => line.includes("connection to the Editor ended") && line.includes("host:"),
      ),
    "its transport says it",
  );
  const ofOwner = system.warnings.filter((line) =>
    /owns the Editor|tools changed|connection to the Editor/.test(line),
  );
  expect(ofOwner.length).toBeGreaterThan(2);
  for (const line of ofOwner) expect(line).toContain(named);
});

test("a line's own values go before those of its log", () => {
  const log = createHeardLog();
  const bound = withFields(log, { editor: "a", principal: "ann" });
  bound.warn({ editor: "b", left: 1 }, "one");
  bound.debug({}, "two");
  expect(log.lines.map(({ values }) => values)).toEqual([
    { editor: "b", principal: "ann", left: 1 },
    { editor: "a", principal: "ann" },
  ]);
  const record = { logId: "l", editor: "e", principal: "p" } as Parameters<typeof fieldsOf>[0];
  expect(fieldsOf(record)).toEqual({ log_id: "l", editor: "e", principal: "p" });
});
