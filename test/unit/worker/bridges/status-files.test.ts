import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PlainIdentity } from "../../../../src/worker/bridges/bridge.js";
import { createDiscovery, type ExplicitEndpoint } from "../../../../src/worker/discovery/discovery.js";
import { createStatusFiles } from "../../../../src/worker/worker.js";

const warnings: string[] = [];
const log = {
  debug() {},
  info() {},
  error() {},
  warn: (_values: object, text: string) => void warnings.push(text),
};
let folder: string;
let project: string;
beforeEach(() => {
  warnings.length = 0;
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ujb-status-")));
  project = join(folder, "Shop");
  mkdirSync(project);
});
afterEach(() => rmSync(folder, { recursive: true }));

const HOUR = 3_600_000;

function write(name: string, fields: object = {}, agoMs = 0): string {
  const path = join(folder, `unity-mcp-status-${name}.json`);
  const status = { unity_port: 6400, reloading: false, project_path: `${project}/Assets`, ...fields };
  writeFileSync(path, JSON.stringify(status), { mode: 0o600 });
  const at = new Date(Date.now() - agoMs);
  utimesSync(path, at, at);
  return path;
}
const files = () => createStatusFiles({ folder, log });

describe("status files of MCP for Unity", () => {
  test("name the port and the project, which has the id that our own bridge would give it", async () => {
    const link = join(folder, "Link");
    symlinkSync(project, link);
    write("1a2b3c4d", { project_path: `${link}/Assets` });
    const [found] = await files().read();
    expect(found).toMatchObject({
      ...{ host: "127.0.0.1", port: 6400, phase: "ready" },
      // As the Editor itself says it: the project is compared with that.
      plain: { bridge: "unity-mcp", projectName: "Shop", projectPath: link },
    });
    write("1a2b3c4d", { unity_port: 6401, reloading: true });
    const [again] = await files().read();
    expect(again).toMatchObject({ port: 6401, phase: "reloading" });
    expect(again?.plain.editorId).toBe(found?.plain.editorId);
  });

  test("others may write it: it is not read, and that is said once", async () => {
    chmodSync(write("1a2b3c4d"), 0o666);
    const status = files();
    expect([await status.read(), await status.read()]).toEqual([[], []]);
    expect(status.refused()).toMatchObject([{ editorId: "unity-mcp-status-1a2b3c4d", why: "writable" }]);
    expect(warnings).toHaveLength(1);
  });

  test("of two for one port the newest counts; one that is a day old is left over", async () => {
    write("old", { project_path: `${folder}/Old/Assets` }, HOUR);
    write("new");
    write("ancient", { unity_port: 6402, project_path: `${folder}/Ancient/Assets` }, 25 * HOUR);
    expect((await files().read()).map(({ plain }) => plain.projectName)).toEqual(["Shop"]);
  });

  test.each([
    ["no port", { unity_port: 0 }],
    ["no project", { project_path: "Shop" }],
    ["a port that is text", { unity_port: "6400" }],
  ])("%s: ignored, and complained about", async (_what, fields) => {
    write("1a2b3c4d", fields);
    expect(await files().read()).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  test("other files of the folder are not read; a rewrite that is half done changes nothing", async () => {
    writeFileSync(join(folder, "unity-mcp-port-1a2b3c4d.json"), JSON.stringify({ unity_port: 6400 }));
    const status = files();
    expect(await status.read()).toEqual([]);
    const path = write("1a2b3c4d");
    expect(await status.read()).toHaveLength(1);
    writeFileSync(path, '{"unity_po');
    expect(await status.read()).toHaveLength(1);
  });
});

describe("discovery", () => {
  const lookWith = async (ours: object | undefined, explicit: ExplicitEndpoint[] = []) => {
    const own = join(folder, "editors");
    mkdirSync(own);
    if (ours) writeFileSync(join(own, "x.json"), JSON.stringify(ours), { mode: 0o600 });
    const discovery = createDiscovery(
      { folder: own, explicit, foreign: files(), log, options: { pollMs: HOUR, watch: false } },
      { onFound() {}, onChanged() {}, onLost() {} },
    );
    await discovery.look();
    const seen = discovery.editors();
    await discovery.close();
    return seen;
  };
  const ourFile = (editorId: string, port: number) => ({
    ...{ editorId, projectName: "x", projectPath: project, host: "127.0.0.1", port, token: "t" },
    ...{ pid: process.pid, unityVersion: "6000" },
  });

  test("finds it", async () => {
    write("1a2b3c4d");
    const [found] = await lookWith(undefined);
    expect(found).toMatchObject({ port: 6400, projectName: basename(project), phase: "ready" });
    expect(found?.plain?.bridge).toBe("unity-mcp");
  });

  test("our own bridge of the project counts instead", async () => {
    write("1a2b3c4d");
    const editorId = (await files().read())[0]?.plain.editorId ?? "";
    expect(await lookWith(ourFile(editorId, 8750))).toMatchObject([{ editorId, port: 8750, token: "t" }]);
  });

  test("an address that is known otherwise is not taken for one of these", async () => {
    write("1a2b3c4d");
    expect(await lookWith(ourFile("game@1", 6400))).toMatchObject([{ editorId: "game@1", token: "t" }]);
  });

  test("an address that was named is driven as it was named", async () => {
    write("1a2b3c4d");
    const plain: PlainIdentity = {
      bridge: "uloop",
      editorId: "old@1",
      projectName: "o",
      projectPath: undefined,
    };
    const seen = await lookWith(undefined, [{ host: "localhost", port: 6400, plain }]);
    expect(seen.map((editor) => editor.plain?.bridge)).toEqual(["uloop"]);
  });
});
