/** The folder of the last known catalogues: what may be in it, who may write it, and what leaves. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createLastCatalogs,
  fileNameOf,
  type LastCatalogsOptions,
  unknownTo,
} from "../../../src/gateway/editors/last-catalogs.js";
import type { AwayEditor } from "../../../src/shared/store/editors/editors.js";
import { completeTool, ToolDetails } from "../../../src/shared/tools/tool.js";
import { SILENT } from "../../harness/silent.js";

const HOUR = 3_600_000;
const tool = (details: object) => completeTool(ToolDetails.parse(details));

let root: string;
let noteFile: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ujb-catalogs-"));
  noteFile = join(root, "known-editors", "private.json");
  folder = join(root, "known-editors", "private.catalogs");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const editor = (id: string, changes: Partial<AwayEditor> = {}): AwayEditor => ({
  profile: {
    editorId: id,
    projectName: "Game",
    projectPath: `/projects/${id}`,
    unityVersion: "6000.0.1f1",
    pid: 1,
    editorSessionId: "s1",
    generation: 3,
    assetCounter: 8,
  },
  lastSeenAt: Date.now(),
  tools: [tool({ name: "work" }), tool({ name: "get-hierarchy" })],
  ...changes,
});

const open = (options: Partial<LastCatalogsOptions> = {}) => {
  const warnings: string[] = [];
  const warn = (values: object, message: string): void => {
    warnings.push(`${message} ${JSON.stringify(values)}`);
  };
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn };
  const catalogs = createLastCatalogs({ noteFile, log }, options);
  const ids = async () => (await catalogs.all()).map(({ profile }) => profile.editorId);
  return { catalogs, warnings, ids };
};

const fileOf = (id: string): string => join(folder, fileNameOf(id));

/** Changes what an honest process wrote. */
const change = (id: string, to: (text: string) => string | Buffer): void =>
  writeFileSync(fileOf(id), to(readFileSync(fileOf(id), "utf8")));

describe("what one process notes", () => {
  test("another one reads, whole", async () => {
    const noted = editor("game@1", { ended: { editorSessionId: "s1", at: 5 } });
    await open().catalogs.note(noted);
    expect(await open().catalogs.all()).toEqual([noted]);
  });

  test("is readable by this user alone, and leaves no draft", async () => {
    await open().catalogs.note(editor("game@1"));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(fileOf("game@1")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual([fileNameOf("game@1")]);
  });

  test("is seen by one that has looked before, and so is what was dropped", async () => {
    const [one, other] = [open(), open()];
    expect(await other.ids()).toEqual([]);
    await one.catalogs.note(editor("game@1"));
    expect(await other.ids()).toEqual(["game@1"]);
    // It has not changed for long, so it is not read again.
    const before = new Date(Date.now() - HOUR);
    utimesSync(folder, before, before);
    expect(await other.ids()).toEqual(["game@1"]);
    await one.catalogs.note(editor("shop@2"));
    expect(await other.ids()).toEqual(["game@1", "shop@2"]);
    await one.catalogs.drop("game@1");
    expect(await other.ids()).toEqual(["shop@2"]);
  });

  test("is seen although the folder's time is the same, as two changes within one tick of a clock leave it", async () => {
    const [one, other] = [open(), open()];
    const now = new Date();
    let lastSeenAt = Date.now();
    const note = async (id: string) => {
      lastSeenAt += 1;
      await one.catalogs.note(editor(id, { lastSeenAt }));
      utimesSync(folder, now, now);
    };
    await note("game@1");
    expect(await other.ids()).toEqual(["game@1"]);
    await note("shop@2");
    expect(await other.ids()).toEqual(["game@1", "shop@2"]);
  });

  test("is read once while nothing changes: each call asks for it", async () => {
    const { catalogs } = open();
    await catalogs.note(editor("game@1"));
    const before = new Date(Date.now() - HOUR);
    utimesSync(folder, before, before);
    const [first] = await catalogs.all();
    expect((await catalogs.all())[0]).toBe(first);
  });

  test("a reload is no reason to write it again; a new tool is, and so is the time", async () => {
    const { catalogs } = open();
    const at = Date.now() - HOUR;
    const noted = editor("game@1", { lastSeenAt: at });
    const inode = () => statSync(fileOf("game@1")).ino;
    await catalogs.note(noted);
    const first = inode();
    const profile = { ...noted.profile, generation: 4, assetCounter: 9 };
    await catalogs.note({ ...noted, profile, lastSeenAt: at + 59_000 });
    expect(inode()).toBe(first);
    await catalogs.note({ ...noted, lastSeenAt: at + 60_000 });
    expect((await catalogs.all())[0]?.lastSeenAt).toBe(at + 60_000);
    await catalogs.note({ ...noted, lastSeenAt: at + 60_000, tools: [tool({ name: "other" })] });
    expect((await catalogs.all())[0]?.tools.map(({ name }) => name)).toEqual(["other"]);
  });

  test("nothing is noted without a file to note it beside", async () => {
    const catalogs = createLastCatalogs({ noteFile: undefined, log: SILENT });
    await catalogs.note(editor("game@1"));
    expect(await catalogs.all()).toEqual([]);
    expect(readdirSync(root)).toEqual([]);
  });
});

describe("what leaves", () => {
  test("the least recently seen, beyond the number and the size of all", async () => {
    const { catalogs, ids } = open({ files: 2 });
    for (const [at, id] of ["a@1", "b@2", "c@3"].entries()) {
      await catalogs.note(editor(id));
      const seen = new Date(Date.now() - HOUR + at * 1_000);
      utimesSync(fileOf(id), seen, seen);
    }
    await catalogs.note(editor("d@4"));
    expect((await ids()).sort()).toEqual(["c@3", "d@4"]);
    expect(readdirSync(folder)).toHaveLength(2);
    const { size } = statSync(fileOf("d@4"));
    expect(await open({ allBytes: size * 1.5 }).ids()).toEqual(["d@4"]);
  });

  test("a project that nobody has opened for long", async () => {
    const { catalogs, ids } = open({ keptMs: HOUR });
    await catalogs.note(editor("a@1", { lastSeenAt: Date.now() - 2 * HOUR }));
    await catalogs.note(editor("b@2"));
    expect(await ids()).toEqual(["b@2"]);
    const before = new Date(Date.now() - 2 * HOUR);
    utimesSync(fileOf("a@1"), before, before);
    await catalogs.note(editor("b@2", { tools: [tool({ name: "other" })] }));
    expect(readdirSync(folder)).toEqual([fileNameOf("b@2")]);
  });

  test("what a process that was killed has left, after an hour; of a live one it stays", async () => {
    const { catalogs } = open();
    await catalogs.note(editor("a@1"));
    const [old, young] = [`${fileOf("a@1")}.old`, `${fileOf("a@1")}.young`];
    for (const draft of [old, young]) writeFileSync(draft, "{");
    const before = new Date(Date.now() - 2 * HOUR);
    utimesSync(old, before, before);
    await catalogs.note(editor("b@2"));
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  });

  test("a project under an older id, of a machine that was renamed", async () => {
    const { catalogs, ids } = open();
    const { profile } = editor("game@old");
    await catalogs.note(editor("game@new", { profile: { ...profile, editorId: "game@new" } }));
    await catalogs.note(editor("game@old", { lastSeenAt: Date.now() - HOUR }));
    expect(await ids()).toEqual(["game@new"]);
  });
});

test("a project that the store knows is not meant by what is noted, whatever its id", () => {
  const [game, shop] = [editor("game@1"), editor("shop@2")];
  const renamed = { id: "game@9", profile: { ...game.profile, editorId: "game@9" } };
  expect(unknownTo([renamed], [game, shop])).toEqual([shop]);
  expect(unknownTo([{ id: "shop@2", profile: undefined }], [game, shop])).toEqual([game]);
});

describe("a file of no use is left out, and logged once", () => {
  const cases: [string, (text: string) => string | Buffer, string?][] = [
    ["torn", (text) => text.slice(0, -10)],
    ["empty", () => ""],
    ["not text", () => Buffer.from([0, 255, 254])],
    ["without a profile", () => JSON.stringify({ tools: [{ name: "work" }], lastSeenAt: Date.now() })],
    ["of another Editor", (text) => text.replaceAll("game@1", "other@2")],
    ["without tools", (text) => JSON.stringify({ ...JSON.parse(text), tools: [] })],
    ["full of values", () => `{"tools":[${"{},".repeat(600_000)}{}]}`, "JSON values"],
    ["too large", (text) => text + " ".repeat(4_000_001)],
  ];
  test.each(cases)("%s", async (_, to, reason = "") => {
    await open().catalogs.note(editor("game@1"));
    await open().catalogs.note(editor("shop@2"));
    change("game@1", to);
    const { ids, warnings } = open();
    expect(await ids()).toEqual(["shop@2"]);
    expect(await ids()).toEqual(["shop@2"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("a last known catalogue is ignored");
    expect(warnings[0]).toContain(reason);
  });

  test("writable by others: the file, or the folder", async () => {
    await open().catalogs.note(editor("game@1"));
    chmodSync(fileOf("game@1"), 0o666);
    const { ids, warnings } = open();
    expect(await ids()).toEqual([]);
    expect(await ids()).toEqual([]);
    expect(warnings).toHaveLength(1);
    chmodSync(fileOf("game@1"), 0o600);
    chmodSync(folder, 0o777);
    expect(await open().ids()).toEqual([]);
    chmodSync(folder, 0o700);
    expect(await open().ids()).toEqual(["game@1"]);
  });

  test.skipIf(process.getuid?.() !== 0)("of another user", async () => {
    await open().catalogs.note(editor("game@1"));
    await open().catalogs.note(editor("shop@2"));
    chownSync(fileOf("game@1"), 12_345, 12_345);
    const { ids, warnings } = open();
    expect(await ids()).toEqual(["shop@2"]);
    expect(warnings).toHaveLength(1);
    chownSync(folder, 12_345, 12_345);
    expect(await open().ids()).toEqual([]);
  });

  test("a folder in its place", async () => {
    await open().catalogs.note(editor("shop@2"));
    mkdirSync(fileOf("game@1"));
    const { ids, warnings } = open();
    expect(await ids()).toEqual(["shop@2"]);
    expect(warnings).toHaveLength(1);
  });

  test("a catalogue that is too large is not written, and the one from before is not taken for it", async () => {
    const { catalogs, warnings } = open({ fileBytes: 2_000 });
    await catalogs.note(editor("game@1"));
    await catalogs.note(
      editor("game@1", { tools: [tool({ name: "work", description: "x".repeat(2_000) })] }),
    );
    expect(await open({ fileBytes: 2_000 }).ids()).toEqual([]);
    expect(warnings).toHaveLength(1);
  });
});

describe("what the file says of tools", () => {
  test("goes through the limits of a catalogue from an Editor", async () => {
    await open().catalogs.note(editor("game@1"));
    let deep: object = {};
    for (let level = 0; level < 40; level += 1) deep = { properties: { a: deep } };
    change("game@1", (text) =>
      JSON.stringify({
        ...JSON.parse(text),
        tools: [
          { name: "work", description: "x".repeat(5_000) },
          { name: "work" },
          { name: "no name\n" },
          { name: "deep", inputSchema: deep },
          "no tool",
        ],
      }),
    );
    const [read] = await open().catalogs.all();
    expect(read?.tools.map(({ name }) => name)).toEqual(["work"]);
    expect(read?.tools[0]?.description).toHaveLength(4_001);
    const limits = { tools: 1, listCharacters: 100, schemaDepth: 1, description: 1 };
    expect(await open({ tools: limits }).ids()).toEqual([]);
  });

  test("▲6 makes none read-only or repeatable: effects are decided again", async () => {
    await open().catalogs.note(editor("game@1"));
    change("game@1", (text) =>
      JSON.stringify({
        ...JSON.parse(text),
        tools: [
          { name: "build-player", effect: "read_only", lane: "background" },
          { name: "run-tests", effect: "read_only", annotations: { readOnlyHint: true } },
          { name: "get-and-delete", effect: "read_only", annotations: { readOnlyHint: false } },
        ],
      }),
    );
    const [read] = await open().catalogs.all();
    expect(read?.tools.map(({ name, effect, lane }) => [name, effect, lane])).toEqual([
      ["build-player", "mutating", "main"],
      ["run-tests", "repeatable", "main"],
      ["get-and-delete", "mutating", "main"],
    ]);
  });
});
