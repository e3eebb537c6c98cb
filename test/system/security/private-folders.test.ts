/** What this user keeps is nobody else's, whatever the umask and the access were before. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { readLocalToken } from "../../../src/gateway/auth/local-token.js";
import { createTokens } from "../../../src/gateway/auth/tokens.js";
import {
  makeOwnFolder,
  NotPrivate,
  ownFile,
  requirePrivateFolder,
} from "../../../src/shared/machine/private-folder.js";
import { createSimulatedEditor } from "../../../src/simulator/editor.js";
import { MAIN } from "../../harness/processes/processes.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ujb-private-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const hasUsers = process.getuid !== undefined;
const isRoot = process.getuid?.() === 0;
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe.skipIf(!hasUsers)("a folder or a file of this user", () => {
  test("loses the rights of others", () => {
    const folder = join(root, "data");
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    makeOwnFolder(folder);
    expect(modeOf(folder)).toBe("700");
    const file = join(folder, "local.token");
    writeFileSync(file, "ujb_secret\n");
    chmodSync(file, 0o666);
    ownFile(file);
    expect(modeOf(file)).toBe("600");
  });

  test("that was chosen by somebody keeps its rights, unless others may put files there", () => {
    chmodSync(root, 0o755);
    requirePrivateFolder(root);
    expect(modeOf(root)).toBe("755");
    chmodSync(root, 0o777);
    expect(() => requirePrivateFolder(root)).toThrow(/chmod go-w '/);
    chmodSync(root, 0o1777);
    expect(() => requirePrivateFolder(root)).toThrow(/Other users may put files into .*mkdir -m 700/);
  });

  test.skipIf(!isRoot)("that was chosen is refused with what another user made there first", () => {
    requirePrivateFolder(root);
    const theirs = join(root, "redis");
    symlinkSync("/var/empty", theirs);
    lchownSync(theirs, 65534, 65534);
    expect(() => requirePrivateFolder(root)).toThrow(/redis belongs to another user.*rm -r '/);
    rmSync(theirs);
    chownSync(root, 65534, 65534);
    expect(() => requirePrivateFolder(root)).toThrow(/Other users may put files into .*mkdir -m 700/);
  });

  test("that was chosen and is open to all is refused by every command that keeps something there", () => {
    chmodSync(root, 0o1777);
    const env = { PATH: process.env.PATH, HOME: root, UNITY_BROKER_DATA_DIR: root };
    for (const command of [["list"], ["up"], ["mcp"], ["token", "local"]]) {
      const { status, stderr } = spawnSync(process.execPath, [MAIN, ...command], { env, encoding: "utf8" });
      expect(status).not.toBe(0);
      expect(stderr).toContain("Other users may put files into");
    }
    expect(readdirSync(root)).toEqual([]);
  });

  test.skipIf(!isRoot)("is refused where it belongs to another user, with what to do", async () => {
    const file = join(root, "local.token");
    writeFileSync(file, "ujb_of_somebody_else\n", { mode: 0o600 });
    chownSync(file, 65534, 65534);
    await expect(readLocalToken(file)).rejects.toThrow(/belongs to another user.*rm '/);
    chownSync(root, 65534, 65534);
    expect(() => makeOwnFolder(root)).toThrow(NotPrivate);
    chownSync(file, 0, 0);
    expect(await readLocalToken(file)).toBe("ujb_of_somebody_else");
    expect(await createTokens(join(root, "none.json")).list()).toEqual([]);
  });
});

describe.skipIf(!hasUsers)("a token", () => {
  test("is not written where a link of somebody else leads", async () => {
    const editors = join(root, "editors");
    const theirs = join(root, "theirs");
    mkdirSync(editors);
    writeFileSync(theirs, "");
    const options = { stateFolder: root, endpointFolder: editors, port: 0, editorId: "game@1" };
    symlinkSync(theirs, join(editors, "game@1.json.new"));
    const editor = await createSimulatedEditor(options);
    expect(statSync(theirs).size).toBe(0);
    expect(modeOf(editor.endpointFile)).toBe("600");
    await editor.close();
  });
});

test.skipIf(!hasUsers)(
  "everything a broker keeps is this user's alone, also in folders that were open to all",
  () => {
    const home = join(root, "home");
    const data = join(home, ".local", "share", "unity-job-broker");
    for (const folder of [
      join(data, "redis"),
      join(data, "logs"),
      join(home, ".unity-job-broker", "editors"),
    ]) {
      mkdirSync(folder, { recursive: true });
    }
    writeFileSync(join(data, "redis", "redis.log"), "");
    spawnSync("chmod", ["-R", "a+rwX", home]);
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: root,
      MCP_DEBUG: "1",
      UNITY_BROKER_CACHE_DIR: defaultDirectories(process.env).cacheDir,
    };
    const run = (...args: string[]) =>
      spawnSync("sh", ["-c", 'umask 000; exec "$0" "$@"', process.execPath, MAIN, ...args], {
        env,
        encoding: "utf8",
      });
    const called = run("editors");
    expect(called.status, called.stderr).toBe(0);
    expect(run("token", "local").stdout).toMatch(/^ujb_/);
    const open = [
      home,
      ...readdirSync(home, { recursive: true, encoding: "utf8" }).map((name) => join(home, name)),
    ]
      .filter((path) => path.startsWith(data) || path.startsWith(join(home, ".unity-job-broker")))
      .filter((path) => (statSync(path).mode & 0o077) !== 0)
      .map((path) => `${modeOf(path)} ${path.slice(home.length)}`);
    expect(run("down").status).toBe(0);
    expect(open).toEqual([]);
    expect(modeOf(data)).toBe("700");
  },
);
