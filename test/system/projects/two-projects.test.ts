/** ▲4 One user, two projects, the same call in each: a call without `editor` runs in the project that it was sent from. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCounterFile } from "../../../src/simulator/ledger/counter-file.js";
import { type ControlledEditor, startControlledEditor } from "../../harness/editor/editor-control.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { openStdioClient, type StdioClient } from "../../harness/processes/process-clients.js";
import { until } from "../../harness/processes/processes.js";

const { type, start, here } = useCommandLine();

interface Project {
  folder: string;
  editor: ControlledEditor;
  /** What its Editor has begun, by its own account. */
  begun(): string[];
}

async function open(name: string): Promise<Project> {
  const { processes, folder: root, env } = here();
  const folder = join(root, name);
  mkdirSync(folder);
  const { file, lines } = createCounterFile(join(root, `${name}.log`));
  const args = ["--project", folder, "--counter-file", file, "--ledger-folder", join(root, `${name}-ledger`)];
  const editor = await startControlledEditor(processes, "typescript", args, env);
  return { folder, editor, begun: () => lines().map(({ what }) => what) };
}

async function bothConnected(): Promise<void> {
  await until("both Editors are connected", async () => {
    const { stdout } = await type(["editors", "--json"]);
    const editors = JSON.parse(stdout) as { connected: boolean }[];
    return editors.filter(({ connected }) => connected).length === 2;
  });
}

const answerIn = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as Record<string, unknown>;

describe("the same call without `editor` in the folders of two projects", () => {
  test("tests run in both: those of one project are no answer in the other", async () => {
    const [one, other] = [await open("GameA"), await open("GameB")];
    const session = ({ folder }: Project): Promise<StdioClient> =>
      openStdioClient(start(`mcp in ${folder}`, ["mcp"], {}, folder));
    const [ann, bob] = [await session(one), await session(other)];
    await bothConnected();
    const args = { SimulatedTests: 4, SimulatedSeconds: 0.5, timeout: 60 };
    const first = ann.ask("run-tests", args);
    await until("the tests run in GameA", () => one.begun().length === 1);

    const { deduplicated, ...answer } = await bob.call("run-tests", args);
    expect(answer).toMatchObject({ status: "completed", editor: other.editor.editorId });
    expect(deduplicated).toBeUndefined();
    expect(await first.answer).toMatchObject({ status: "completed", editor: one.editor.editorId });
    expect([one.begun(), other.begun()]).toEqual([["run-tests"], ["run-tests"]]);
    await ann.close();
    await bob.close();
  });

  test("typed in each, it builds once in each; a retry in the same folder builds nothing", async () => {
    const [one, other] = [await open("GameA"), await open("GameB")];
    await bothConnected();
    const build = '{"BuildTarget":"Android","SimulatedSeconds":0}';
    const args = ["call", "build-player", "--json", build, "--timeout", "0"];
    const sent: unknown[] = [];
    for (const { folder, editor, begun } of [one, other]) {
      const { deduplicated, ...answer } = answerIn(await type(args, {}, folder));
      expect(answer).toMatchObject({ editor: editor.editorId });
      expect(deduplicated).toBeUndefined();
      await until("it has begun", () => begun().length === 1);
      sent.push(answer.log_id);
    }
    // Nobody has read either outcome.
    const again = [answerIn(await type(args, {}, one.folder)), answerIn(await type(args, {}, other.folder))];
    expect(again.map(({ log_id }) => log_id)).toEqual(sent);
    expect([one.begun(), other.begun()]).toEqual([["build-player"], ["build-player"]]);
  });
});
