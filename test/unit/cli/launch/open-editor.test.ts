/** Which Editor has a project open: by its endpoint file, its process, and what the broker lists. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startEditor, startedEarlier } from "../../../../src/cli/launch/launch.js";
import { createOpenEditor, isConnected } from "../../../../src/cli/launch/open-editor.js";
import { until } from "../../../harness/processes/processes.js";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ujb-open-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log = { debug: () => undefined, warn: () => undefined };

async function openWith(more: Record<string, unknown>): Promise<string | undefined> {
  const endpoint = {
    ...{
      editorId: "game@12345678",
      projectName: "Game",
      projectPath: "/game",
      pid: process.pid,
      host: "127.0.0.1",
    },
    ...{ port: 8700, token: "t", unityVersion: "2022.3.20f1", pidStartedAt: Date.now() },
    ...more,
  };
  const editors = join(folder, "editors");
  mkdirSync(editors, { recursive: true, mode: 0o700 });
  writeFileSync(join(editors, `${endpoint.editorId}.json`), JSON.stringify(endpoint), { mode: 0o600 });
  const project = {
    path: "/game",
    editorId: "game@12345678",
    version: "",
    changeset: undefined,
    hasBridge: true,
  };
  return (await createOpenEditor(editors, project, log)())?.id;
}

test("the Editor of this project that lives", async () => {
  expect(await openWith({})).toBe("game@12345678");
  expect(await openWith({ pid: 2 ** 22 + 1 })).toBeUndefined();
});

test.runIf(process.platform === "linux")(
  "not a later process with the id of an Editor that has ended",
  async () => {
    expect(await openWith({ pidStartedAt: 1 })).toBeUndefined();
  },
);

test("the Editor of another project, or of this one under an id that was chosen", async () => {
  expect(await openWith({ editorId: "chosen@1" })).toBe("chosen@1");
  rmSync(join(folder, "editors"), { recursive: true });
  expect(await openWith({ editorId: "other@1", projectPath: "/other" })).toBeUndefined();
});

test("connected is the very process, not an older one of the same project", () => {
  const editor = { id: "game@1", pid: 7, unityVersion: "" };
  const listed = { id: "game@1", connected: true, pid: 7, session: "s" };
  expect(isConnected(editor, [listed])).toBe(listed);
  expect(isConnected(editor, [{ ...listed, pid: 6 }])).toBeUndefined();
  expect(isConnected(editor, [{ ...listed, connected: false }])).toBeUndefined();
  expect(isConnected(editor, [{ ...listed, id: "game@2" }])).toBeUndefined();
});

test("a process that was started is found by the next launch until it is forgotten, or has ended", async () => {
  const files = { file: join(folder, "log"), output: join(folder, "output") };
  const start = (script: string) =>
    startEditor({ executable: "/bin/sh", args: ["-c", script], env: process.env, log: files, folder });
  const waits = await start("exec sleep 600");
  expect(startedEarlier(folder)?.pid).toBe(waits.pid);
  waits.forget();
  expect(startedEarlier(folder)).toBeUndefined();
  process.kill(-waits.pid, "SIGKILL");
  await until("it has ended", () => waits.end());
  expect(waits.end()).toBe("signal SIGKILL");

  const fails = await start("exit 3");
  await until("it has ended", () => fails.end());
  expect(fails.end()).toBe("exit code 3");
  expect(startedEarlier(folder)).toBeUndefined();
  await expect(
    startEditor({ executable: join(folder, "none"), args: [], env: {}, log: files, folder }),
  ).rejects.toThrow(/none cannot be started/);
});
