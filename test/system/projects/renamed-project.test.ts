/** ▲4 A project whose folder was renamed while it was closed: it has another Editor, which runs nothing of the old one. */
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createCounterFile } from "../../../src/simulator/ledger/counter-file.js";
import { startControlledEditor } from "../../harness/editor/editor-control.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test("calls that named the old one wait and say what to do, what it had is settled as unknown, the new one runs its own", async () => {
  world = await startWorld();
  const { folder, editor, processes, env } = world;
  const client = await world.http();
  const item = (MenuItemPath: string, more: object = {}) =>
    client.call("execute-menu-item", { MenuItemPath, timeout: 0, ...more });
  const statusOf = (log_id = "") => client.call("get_operation_status", { log_id });
  const sent = await item("Simulator/Block For 60 Seconds");
  await until("it runs", async () => (await statusOf(sent.log_id)).state === "running");
  const waiting = await item("File/Save Project");

  await editor.process.kill("SIGKILL");
  await until(
    "it is known to have closed",
    async () => (await statusOf(waiting.log_id)).editor_closed === true,
  );
  mkdirSync(join(folder, "Project"), { recursive: true });
  renameSync(join(folder, "Project"), join(folder, "Project New"));
  const counter = createCounterFile(join(folder, "executions-new.log"));
  const args = ["--project", join(folder, "Project New"), "--counter-file", counter.file];
  const renamed = await startControlledEditor(processes, "typescript", args, env);
  expect(renamed.editorId).toMatch(/^project-new@/);
  await until("it is connected", async () => {
    const { editors } = (await client.call("list_editors", {})) as unknown as {
      editors: { id: string; connected: boolean }[];
    };
    return editors.some(({ id, connected }) => id === renamed.editorId && connected);
  });

  const named = [await item("Edit/Clear All PlayerPrefs", { editor: "Project" })];
  named.push(await item("Assets/Refresh", { editor: editor.editorId }));
  for (const { log_id } of [waiting, ...named]) {
    const now = await statusOf(log_id);
    expect(now).toMatchObject({ state: "queued", editor: editor.editorId, editor_closed: true });
    expect(now.message).toMatch(
      /has not started: it waits.*open Project in Unity.*renamed or moved.*cancel this operation and name that one/,
    );
  }
  const own = await item("GameObject/Create Empty", { editor: "Project New", timeout: 20 });
  expect(own).toMatchObject({ status: "completed", editor: renamed.editorId });

  expect(await statusOf(sent.log_id)).toMatchObject({ state: "running", editor_closed: true });
  expect(await client.call("cancel_operation", { log_id: sent.log_id })).toMatchObject({
    state: "interrupted",
    error_code: "OUTCOME_UNKNOWN",
  });
  for (const { log_id } of [waiting, ...named])
    expect(await client.call("cancel_operation", { log_id })).toMatchObject({ status: "cancelled" });
  expect(counter.lines().map(({ what }) => what)).toEqual(["GameObject/Create Empty"]);
  expect(
    createCounterFile(editor.counterFile)
      .lines()
      .map(({ what }) => what),
  ).toEqual(["Simulator/Block For 60 Seconds"]);
  await client.close();
});
