/** An Editor names its own log: nothing but a log in a place of logs is read for it. */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { endOfLog } from "../../../src/worker/owner/evidence.js";
import { unityLogPlaces } from "../../../src/worker/owner/log-places.js";

const isWindows = process.platform === "win32";

/** A home with a project, and a secret beside. */
function world() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "ujb-home-")));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const write = (...path: string[]): string => {
    const file = join(home, ...path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "the end\n");
    return file;
  };
  const project = join(home, "Game");
  const secret = write("secret.log");
  const end = (file: string, named: string[] = [], projectPath = project): Promise<string[] | undefined> =>
    endOfLog(file, false, unityLogPlaces(named, home), projectPath);
  return { home, project, secret, write, end };
}

test.each([
  ["Linux", [".config", "unity3d", "Editor.log"]],
  ["macOS", ["Library", "Logs", "Unity", "Editor.log"]],
  ["Windows", ["AppData", "Local", "Unity", "Editor", "Editor.log"]],
  ["the project's own", ["Game", "Logs", "AssetImportWorker0.log"]],
])("the log of %s is read", async (_place, path) => {
  const { write, end } = world();
  expect(await end(write(...path))).toEqual(["the end"]);
});

test("a log that the configuration names is read, by its folder or itself", async () => {
  const { write, end, home } = world();
  const log = write("logs", "unity.log");
  const text = write("logs", "unity.txt");
  expect(await end(log)).toBeUndefined();
  expect(await end(log, [join(home, "logs")])).toEqual(["the end"]);
  expect(await end(text, [join(home, "logs")])).toBeUndefined();
  expect(await end(text, [text])).toEqual(["the end"]);
});

test("no other file is read, however it is named", async () => {
  const { write, end, secret, home, project } = world();
  write("Game", "Logs", "a.log");
  write(".config", "unity3d", "Editor.log");
  const others = [
    secret,
    join(project, "Logs", "..", "..", "secret.log"),
    write("Game", "Logs", "deeper", "a.log"),
    write("Game", "Logs", "settings.json"),
    write(".config", "unity3d", "prefs"),
    "/etc/passwd",
    "/proc/self/environ",
    join(home, "nowhere.log"),
    "",
    "a\u0000b",
  ];
  for (const file of others) expect(await end(file), file).toBeUndefined();
});

test.skipIf(isWindows)(
  "a link out of the place is not followed, a link of another name is no log",
  async () => {
    const { write, end, secret, home, project } = world();
    write("Game", "Logs", "a.log");
    symlinkSync(secret, join(project, "Logs", "link.log"));
    expect(await end(join(project, "Logs", "link.log"))).toBeUndefined();
    linkSync(secret, join(project, "Logs", "hard.log"));
    expect(await end(join(project, "Logs", "hard.log"))).toBeUndefined();
    mkdirSync(join(home, "Other"));
    symlinkSync(home, join(home, "Other", "Logs"));
    expect(await end(join(home, "Other", "Logs", "secret.log"), [], join(home, "Other"))).toBeUndefined();
  },
);

test.skipIf(isWindows)("a link to an allowed log is", async () => {
  const { write, end, home } = world();
  symlinkSync(write("Game", "Logs", "a.log"), join(home, "Editor.log"));
  expect(await end(join(home, "Editor.log"))).toEqual(["the end"]);
});

test.skipIf(isWindows)("a pipe and a folder are no logs, and nobody waits for them", async () => {
  const { write, end, project } = world();
  write("Game", "Logs", "a.log");
  execFileSync("mkfifo", [join(project, "Logs", "pipe.log")]);
  mkdirSync(join(project, "Logs", "folder.log"));
  expect(await end(join(project, "Logs", "pipe.log"))).toBeUndefined();
  expect(await end(join(project, "Logs", "folder.log"))).toBeUndefined();
});

test.skipIf(isWindows || process.getuid?.() !== 0)(
  "another user's file is no log (seen as root)",
  async () => {
    const { write, end } = world();
    const log = write("Game", "Logs", "a.log");
    chownSync(log, 65_534, 65_534);
    expect(await end(log)).toBeUndefined();
  },
);
