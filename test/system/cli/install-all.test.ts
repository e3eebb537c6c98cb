/** `install --all` and `uninstall --all`: of the clients that are found in a home folder, and what is said of each. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLIENTS, clientNamed, foundClients, userFile } from "../../../src/cli/clients/client-table.js";
import { MAIN } from "../../harness/processes/processes.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ujb-install-all-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const fileOf = (id: string): string =>
  userFile(clientNamed(id), { platform: process.platform, env: {}, home });

function write(id: string, content: string): string {
  const path = fileOf(id);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const entryIn = (path: string): unknown => JSON.parse(readFileSync(path, "utf8")).mcpServers?.unity;

/** The built process, with a home folder of its own. */
function type(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
  const command = [MAIN, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    env,
    cwd: home,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

interface Report {
  client: string;
  outcome: string;
  written: boolean;
  message?: string;
}
const reports = (stdout: string): Record<string, Report> =>
  Object.fromEntries((JSON.parse(stdout) as Report[]).map((report) => [report.client, report]));

describe("a client is found", () => {
  const found = (): string[] =>
    foundClients({ platform: process.platform, env: {}, home }).map(({ id }) => id);

  it("not in an empty home", () => expect(found()).toEqual([]));

  it.each(CLIENTS.map(({ id }) => id))("by its file: %s, and nobody else", (id) => {
    write(id, "");
    // The two of Google share a folder.
    expect(found()).toEqual([id]);
  });

  it.each([
    ["claude-code", ".claude"],
    ["cursor", ".cursor"],
    ["codex", ".codex"],
    ["gemini", ".gemini/oauth_creds.json"],
    ["antigravity", ".gemini/antigravity"],
  ])("by what it leaves before it has a file: %s", (id, trace) => {
    mkdirSync(join(home, trace), { recursive: true });
    expect(found()).toEqual([id]);
  });
});

describe("install --all", () => {
  it("writes into each client that is found and no other, and takes all out again", () => {
    const before = '{\n  "mcpServers": {}\n}\n';
    const [claude, antigravity] = [write("claude-code", before), write("antigravity", before)];
    mkdirSync(join(home, ".cursor"));

    const did = type("install", "--all");
    expect(did).toMatchObject({ code: 0, stderr: "" });
    expect(did.stdout).toMatch(
      /^Found: Claude Code, Cursor, Antigravity\. Not found: Claude Desktop, VS Code, Windsurf, Codex, Gemini CLI\.$/m,
    );
    expect(did.stdout.match(/: server unity was added$/gm)).toHaveLength(3);
    for (const path of [claude, antigravity, fileOf("cursor")])
      expect(entryIn(path), path).toMatchObject({ command: "node", args: [MAIN, "mcp"] });
    for (const id of ["claude-desktop", "vscode", "windsurf", "codex", "gemini"])
      expect(existsSync(fileOf(id)), id).toBe(false);

    const again = type("install", "--all");
    expect(again.stdout.match(/: server unity is already installed; nothing was written$/gm)).toHaveLength(3);

    const out = type("uninstall", "--all");
    expect(out).toMatchObject({ code: 0, stderr: "" });
    expect(out.stdout.match(/: server unity was removed$/gm)).toHaveLength(3);
    for (const path of [claude, antigravity]) expect(readFileSync(path, "utf8")).toBe(before);
    expect(type("uninstall", "--all").stdout.match(/is not installed; nothing was written$/gm)).toHaveLength(
      3,
    );
  });

  it("goes on behind a file that it leaves as it was, and ends with 1", () => {
    const foreign = '{ "mcpServers": { "unity": { "command": "other-server" } } }';
    const [cursor, windsurf] = [write("cursor", foreign), write("windsurf", "{ broken")];
    const antigravity = write("antigravity", "");
    const { code, stdout } = type("install", "--all", "--json");
    expect(code).toBe(1);
    expect(reports(stdout)).toMatchObject({
      cursor: {
        outcome: "failed",
        written: false,
        message: expect.stringMatching(/not this broker.*--force/),
      },
      windsurf: { outcome: "failed", written: false, message: expect.stringContaining(windsurf) },
      antigravity: { outcome: "added", written: true },
      codex: { outcome: "not-found", written: false },
    });
    expect(Object.keys(reports(stdout)).sort()).toEqual(CLIENTS.map(({ id }) => id).sort());
    expect(readFileSync(cursor, "utf8")).toBe(foreign);
    expect(readFileSync(windsurf, "utf8")).toBe("{ broken");
    expect(entryIn(antigravity)).toBeDefined();
    expect(type("install", "--all").stdout).toMatch(/^Windsurf: failed: /m);
  });

  it("leaves out a client that has no such entry, which is no failure", () => {
    write("claude-desktop", "{}");
    write("cursor", "{}");
    const { code, stdout } = type("install", "--all", "--http", "--json");
    expect(code).toBe(0);
    expect(reports(stdout)).toMatchObject({
      "claude-desktop": { outcome: "skipped", written: false },
      cursor: { outcome: "added", written: true },
    });
    expect(readFileSync(fileOf("claude-desktop"), "utf8")).toBe("{}");
  });

  it("with --print shows what it would do, and writes nothing", () => {
    const path = write("cursor", "{}");
    const { code, stdout } = type("install", "--all", "--print");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Cursor: server unity would be added$/m);
    expect(readFileSync(path, "utf8")).toBe("{}");
    expect(readdirSync(home)).toEqual([".cursor"]);
  });

  it("in an empty home has nothing to do", () => {
    const { code, stdout } = type("install", "--all");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Found: none\. Not found: Claude Code, /);
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    [["install", "--all", "cursor"], /leave cursor out/],
    [["uninstall", "--all", "cursor"], /leave cursor out/],
    [["install", "--all", "--project"], /leave --project out/],
    [["install", "--all", "--name", "my server"], /--name my server: use letters/],
    [["install", "--all", "--token", "t"], /--token goes with --http/],
  ])("%j is the user's mistake", (args, says) => {
    write("cursor", "{}");
    expect(type(...args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
    expect(readFileSync(fileOf("cursor"), "utf8")).toBe("{}");
  });
});
