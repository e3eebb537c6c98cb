import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createConfiguredEditors } from "../../../src/worker/discovery/configured-editors.js";
import { createDiscovery, type DiscoveredEditor } from "../../../src/worker/discovery/discovery.js";

const warnings: string[] = [];
const log = {
  debug() {},
  info() {},
  error() {},
  warn: (_values: object, text: string) => void warnings.push(text),
};
let project: string;
beforeEach(() => {
  warnings.length = 0;
  project = realpathSync(mkdtempSync(join(tmpdir(), "ujb-project-")));
  mkdirSync(join(project, "UserSettings"));
});
afterEach(() => rmSync(project, { recursive: true }));

const settle = (port: number) =>
  // As uLoop writes it: with a byte order mark.
  writeFileSync(
    join(project, "UserSettings", "UnityMcpSettings.json"),
    `\uFEFF${JSON.stringify({ customPort: port })}`,
  );

test("a project says its port itself, and is known by its folder", async () => {
  const read = createConfiguredEditors(
    [{ project }, { name: "My Game", host: "127.0.0.1", port: 8701 }],
    log,
  );
  settle(8710);
  const [first, second] = await read();
  expect(first).toMatchObject({ host: "127.0.0.1", port: 8710, plain: { projectPath: project } });
  expect(first?.plain?.editorId).toMatch(new RegExp(`^${basename(project).toLowerCase()}@[0-9a-f]{8}$`));
  expect(second).toMatchObject({ port: 8701, plain: { projectName: "My Game", projectPath: undefined } });
  expect(second?.plain?.editorId).toMatch(/^my-game@[0-9a-f]{8}$/);
  settle(8720);
  expect((await read())[0]).toMatchObject({ port: 8720, plain: first?.plain });
});

test("one that says nothing is left out, and complained about once", async () => {
  const read = createConfiguredEditors([{ project }], log);
  expect([await read(), await read()]).toEqual([[], []]);
  expect(warnings).toHaveLength(1);
  settle(8710);
  expect(await read()).toHaveLength(1);
});

describe("discovery", () => {
  test("a named Editor that has a bridge of ours is no plain one", async () => {
    settle(8710);
    const folder = join(project, "editors");
    mkdirSync(folder);
    const configured = createConfiguredEditors([{ project }], log);
    const seen: DiscoveredEditor[] = [];
    const note = (editor: DiscoveredEditor) => void seen.push(editor);
    const discovery = createDiscovery(
      { folder, explicit: [], configured, log, options: { pollMs: 3_600_000, watch: false } },
      { onFound: note, onChanged: note, onLost: () => undefined },
    );
    await discovery.look();
    const editorId = seen[0]?.editorId;
    expect(seen).toMatchObject([{ port: 8710, plain: { projectPath: project } }]);
    const file = {
      editorId,
      projectName: "x",
      projectPath: project,
      host: "127.0.0.1",
      port: 8750,
      token: "t",
    };
    writeFileSync(
      join(folder, "x.json"),
      JSON.stringify({ ...file, pid: process.pid, unityVersion: "6000" }),
    );
    await discovery.look();
    expect(seen.slice(1)).toMatchObject([{ port: 8750, token: "t", editorId }]);
    expect(seen[1]?.plain).toBeUndefined();
    expect(discovery.editors()).toHaveLength(1);
    await discovery.close();
  });
});
