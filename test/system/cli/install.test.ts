/** `install` and `uninstall` against the files that people have: whatever else is in them must survive, byte for byte. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse as parseToml } from "@decimalturn/toml-patch";
import { parse as parseJsonc } from "jsonc-parser";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withoutValues } from "../../../src/cli/clients/client-arguments.js";
import { readClientFile, replaceClientFile } from "../../../src/cli/clients/client-file.js";
import {
  CLIENTS,
  type Client,
  clientNamed,
  projectFile,
  userFile,
} from "../../../src/cli/clients/client-table.js";
import { assertOnlyChanged } from "../../../src/cli/clients/config-text.js";
import { type Entry, entryOf, isOurs, type Reach, startCommand } from "../../../src/cli/clients/entry.js";
import { carryOut, type Plan, planInstall, planUninstall } from "../../../src/cli/clients/installation.js";
import { jsonText } from "../../../src/cli/clients/json-edits.js";
import { MAIN } from "../../harness/processes/processes.js";

const ADDRESS = "http://127.0.0.1:8787/mcp";
const GLOBAL: Reach = startCommand(
  "/usr/lib/node_modules/unity-job-broker/dist/cli/main.js",
  "/usr/bin/unity-broker",
);
const CHECKOUT: Reach = startCommand("/src/broker/dist/cli/main.js");
const HTTP: Reach = { transport: "http", url: ADDRESS, token: "s3cret" };
/** A millisecond passes between two changes: copies are named by their time. */
let clock: number;
const now = () => new Date(clock++);

let folder: string;

beforeEach(() => {
  clock = Date.parse("2026-01-02T03:04:05.678Z");
  folder = mkdtempSync(join(tmpdir(), "ujb-install-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Install {
  client?: string;
  reach?: Reach;
  name?: string;
  force?: boolean;
  path: string;
}

const place = ({ client = "vscode", name = "unity", force = false, path }: Install) =>
  ({ client: clientNamed(client), path, scope: "user", name, addresses: [ADDRESS], force }) as const;

async function install(how: Install): Promise<Plan & { backup: string | undefined }> {
  const entry = entryOf(clientNamed(how.client ?? "vscode"), how.reach ?? GLOBAL);
  const plan = await planInstall(place(how), entry, how.reach === HTTP);
  return { ...plan, backup: await carryOut(plan, now()) };
}

async function uninstall(how: Install): Promise<Plan & { backup: string | undefined }> {
  const plan = await planUninstall(place(how));
  return { ...plan, backup: await carryOut(plan, now()) };
}

function file(name: string, content?: string): string {
  const path = join(folder, name);
  if (content !== undefined) writeFileSync(path, content);
  return path;
}

const text = (path: string): string => readFileSync(path, "utf8");

function data(client: Client, path: string): Entry {
  const content = text(path).replace(/^\uFEFF/, "");
  if (client.format === "toml") return parseToml(content) as Entry;
  return (client.format === "json" ? JSON.parse(content) : parseJsonc(content)) as Entry;
}

function serversOf(client: Client, path: string): Record<string, Entry> {
  return client.servers.reduce<unknown>((value, key) => (value as Entry)[key], data(client, path)) as Record<
    string,
    Entry
  >;
}

describe("where each client keeps its file", () => {
  const machines = {
    darwin: { platform: "darwin", env: {}, home: "/Users/u" },
    linux: { platform: "linux", env: {}, home: "/home/u" },
    win32: { platform: "win32", env: { APPDATA: "D:\\Roaming" }, home: "C:\\Users\\u" },
  } as const;
  const support = "/Users/u/Library/Application Support";

  it.each([
    ["claude-code", "/Users/u/.claude.json", "/home/u/.claude.json", "C:\\Users\\u\\.claude.json"],
    [
      "claude-desktop",
      `${support}/Claude/claude_desktop_config.json`,
      "/home/u/.config/Claude/claude_desktop_config.json",
      "D:\\Roaming\\Claude\\claude_desktop_config.json",
    ],
    ["cursor", "/Users/u/.cursor/mcp.json", "/home/u/.cursor/mcp.json", "C:\\Users\\u\\.cursor\\mcp.json"],
    [
      "vscode",
      `${support}/Code/User/mcp.json`,
      "/home/u/.config/Code/User/mcp.json",
      "D:\\Roaming\\Code\\User\\mcp.json",
    ],
    [
      "windsurf",
      "/Users/u/.codeium/windsurf/mcp_config.json",
      "/home/u/.codeium/windsurf/mcp_config.json",
      "C:\\Users\\u\\.codeium\\windsurf\\mcp_config.json",
    ],
    [
      "codex",
      "/Users/u/.codex/config.toml",
      "/home/u/.codex/config.toml",
      "C:\\Users\\u\\.codex\\config.toml",
    ],
    [
      "gemini",
      "/Users/u/.gemini/settings.json",
      "/home/u/.gemini/settings.json",
      "C:\\Users\\u\\.gemini\\settings.json",
    ],
    [
      "antigravity",
      "/Users/u/.gemini/config/mcp_config.json",
      "/home/u/.gemini/config/mcp_config.json",
      "C:\\Users\\u\\.gemini\\config\\mcp_config.json",
    ],
  ])("%s", (id, darwin, linux, win32) => {
    const client = clientNamed(id);
    expect(userFile(client, machines.darwin)).toBe(darwin);
    expect(userFile(client, machines.linux)).toBe(linux);
    expect(userFile(client, machines.win32)).toBe(win32);
  });

  it("variables count when they are absolute paths, and Windows has a default without them", () => {
    const at = (id: string, env: Record<string, string>) =>
      userFile(clientNamed(id), { ...machines.linux, env });
    expect(at("codex", { CODEX_HOME: "/opt/codex" })).toBe("/opt/codex/config.toml");
    expect(at("codex", { CODEX_HOME: "codex" })).toBe("/home/u/.codex/config.toml");
    expect(at("vscode", { XDG_CONFIG_HOME: "/cfg" })).toBe("/cfg/Code/User/mcp.json");
    expect(at("claude-code", { CLAUDE_CONFIG_DIR: "/opt/claude" })).toBe("/opt/claude/.claude.json");
    expect(userFile(clientNamed("vscode"), { ...machines.win32, env: {} })).toBe(
      "C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json",
    );
  });

  it("a project has its own file, where the client reads one", () => {
    const inProject = (id: string) => projectFile(clientNamed(id), "/game", { platform: "linux" });
    expect(inProject("claude-code")).toBe("/game/.mcp.json");
    expect(inProject("cursor")).toBe("/game/.cursor/mcp.json");
    expect(inProject("vscode")).toBe("/game/.vscode/mcp.json");
    expect(inProject("codex")).toBe("/game/.codex/config.toml");
    expect(inProject("gemini")).toBe("/game/.gemini/settings.json");
    expect(inProject("antigravity")).toBe("/game/.agents/mcp_config.json");
    for (const id of ["claude-desktop", "windsurf"])
      expect(() => inProject(id)).toThrow(/leave --project out/);
  });
});

describe("the entry", () => {
  const started = { command: "node", args: ["/src/broker/dist/cli/main.js", "mcp"] };
  const headers = { Authorization: "Bearer s3cret" };
  const patient = { startup_timeout_sec: 60, tool_timeout_sec: 120 };
  it.each([
    ["claude-code", { type: "stdio", ...started }, { type: "http", url: ADDRESS, headers }],
    ["claude-desktop", started, undefined],
    ["cursor", { type: "stdio", ...started }, { url: ADDRESS, headers }],
    ["vscode", { type: "stdio", ...started }, { type: "http", url: ADDRESS, headers }],
    ["windsurf", started, { serverUrl: ADDRESS, headers }],
    ["codex", { ...started, ...patient }, { url: ADDRESS, http_headers: headers, ...patient }],
    ["gemini", started, { httpUrl: ADDRESS, headers }],
    // Without `type`: it refuses an entry that has one.
    ["antigravity", started, { serverUrl: ADDRESS, headers }],
  ])("of %s is in its own words", (id, stdio, http) => {
    const client = clientNamed(id);
    expect(entryOf(client, CHECKOUT)).toEqual(stdio);
    if (http === undefined) expect(() => entryOf(client, HTTP)).toThrow(/leave --http and --token out/);
    else {
      expect(entryOf(client, HTTP)).toEqual(http);
      const open = entryOf(client, { transport: "http", url: ADDRESS, token: undefined });
      expect(JSON.stringify(open)).not.toMatch(/eaders|Bearer/);
    }
  });

  it.each<[string, string, string | undefined, { command: string; args: string[] }]>([
    ["a checkout", "/src/broker/dist/cli/main.js", "/src/broker/dist/cli/main.js", started],
    [
      "the global command",
      "/usr/lib/node_modules/unity-job-broker/dist/cli/main.js",
      "/usr/bin/unity-broker",
      { command: "/usr/bin/unity-broker", args: ["mcp"] },
    ],
    ...["/app/node_modules/.bin/unity-broker", "/home/u/.npm/_npx/1/bin/unity-broker", "unity-broker"].map(
      (typed): [string, string, string, { command: string; args: string[] }] => [
        `${typed}, which may be another one tomorrow`,
        "/app/node_modules/unity-job-broker/dist/cli/main.js",
        typed,
        { command: "node", args: ["/app/node_modules/unity-job-broker/dist/cli/main.js", "mcp"] },
      ],
    ),
    [
      "Windows, whose global command is a script",
      "C:\\$& $1\\node_modules\\unity-job-broker\\dist\\cli\\main.js",
      "C:\\$& $1\\node_modules\\unity-job-broker\\dist\\cli\\main.js",
      {
        command: "node",
        args: ["C:\\$& $1\\node_modules\\unity-job-broker\\dist\\cli\\main.js", "mcp"],
      },
    ],
  ])("is this very broker by its full path: %s", (_how, main, typed, expected) => {
    expect(startCommand(main, typed)).toEqual({ transport: "stdio", ...expected });
  });

  it("never names a package, which a client would take from the registry", () => {
    for (const client of CLIENTS)
      for (const reach of [GLOBAL, CHECKOUT])
        expect(JSON.stringify(entryOf(client, reach))).not.toMatch(/npx|"unity-job-broker"/);
  });

  it("is known as ours in every form it had, and nothing else is", () => {
    const ours: Entry[] = [
      ...CLIENTS.map((client) => entryOf(client, GLOBAL)),
      entryOf(clientNamed("gemini"), HTTP),
      { command: "npx", args: ["-y", "unity-job-broker", "mcp"] },
      { command: "cmd", args: ["/c", "npx", "-y", "unity-job-broker@0.1.0", "mcp"] },
      { command: "C:\\npm\\unity-broker.cmd", args: ["mcp"] },
      { command: "node", args: ["D:\\old\\checkout\\dist\\cli\\main.js", "mcp"] },
    ];
    for (const entry of ours) expect(isOurs(entry, [ADDRESS]), JSON.stringify(entry)).toBe(true);
    const foreign = [
      { command: "npx", args: ["-y", "unity-mcp"] },
      { command: "node", args: ["/other/dist/cli/main.js", "serve"] },
      { url: "http://127.0.0.1:8080/mcp" },
      { command: "uvx", args: ["unity-job-brokers"] },
      { command: "uv", args: ["--directory", "/home/u/unity-broker", "run", "server.py"] },
      "unity-broker",
      null,
    ];
    for (const entry of foreign) expect(isOurs(entry, [ADDRESS]), JSON.stringify(entry)).toBe(false);
  });
});

/** What a file of that client may hold already; `bare` has no other server. */
const EXISTING: Record<Client["format"], (client: Client) => { full: string; bare: string }> = {
  json: ({ servers: [key] }) => ({
    full: `{\n  "theme": "dark",\n  "${key}": {\n    "docs": {\n      "command": "npx",\n      "args": ["-y", "docs"]\n    }\n  },\n  "last": [1, 2.50, 1e3]\n}\n`,
    bare: `{"theme":"dark","${key}":{},"n":1.0}`,
  }),
  jsonc: ({ servers: [key] }) => ({
    full: `// mine\n{\n  /* look */ "theme": "dark", // nice\n  "${key}": {\n    // the docs\n    "docs": { "command": "npx" }, // see docs\n    "last": { "url": "http://x" } // the last\n    // nothing below\n  },\n  "trailing": [1,],\n}\n// end\n`,
    bare: `{\n  "${key}": {}, // none\n}`,
  }),
  toml: () => ({
    full: `# mine\nmodel = "gpt"   # the model\nwhen = 1979-05-27T07:32:00Z\nratio = 1.0\nbig = 9223372036854775807\nhex = 0xFF\n\n[mcp_servers.docs] # docs\ncommand = 'npx'\nargs = [\n  "-y", # yes\n  "docs",\n]\nenv = { A = "1" }\n\n# fast\n[profiles.fast]\nmodel = "x"\n\n[[hooks]]\na = 1\n`,
    bare: `model = "gpt"\n[mcp_servers]\n`,
  }),
};

const SPELLINGS: Record<string, (content: string) => string> = {
  "as it is": (content) => content,
  "with CRLF": (content) => content.replaceAll("\n", "\r\n"),
  "with tabs": (content) => content.replaceAll(/^( {2})+/gm, (spaces) => "\t".repeat(spaces.length / 2)),
  "with a byte order mark": (content) => `\uFEFF${content}`,
  "without a last line break": (content) => content.trimEnd(),
};

describe.each(CLIENTS)("$id", (client) => {
  const reaches: Reach[] = client.http === null ? [GLOBAL] : [GLOBAL, HTTP];

  it.each(Object.keys(SPELLINGS))(
    "keeps what is there %s, and uninstall restores every byte",
    async (spelling) => {
      const { full, bare } = EXISTING[client.format](client);
      for (const original of [full, bare]) {
        const content = SPELLINGS[spelling]?.(original) ?? "";
        for (const reach of reaches) {
          const path = file("config", content);
          const others = serversOf(client, path);
          const did = await install({ client: client.id, reach, path });
          expect(did).toMatchObject({ outcome: "added", warnings: [] });
          expect(serversOf(client, path)).toEqual({ ...others, unity: entryOf(client, reach) });
          // Every line that was there is there, in order, except for a comma.
          const lines = (of: string) =>
            of.split(/\r?\n/).map((line) => line.trim().replace(/,(?= *(\/\/.*)?$)/, ""));
          const kept = lines(text(path));
          if (original === full) for (const line of lines(content)) expect(kept).toContain(line);
          if (content.includes("\r\n")) expect(text(path)).not.toMatch(/(?<!\r)\n/);
          expect(text(did.backup ?? "")).toBe(content);

          const again = await install({ client: client.id, reach, path });
          expect(again).toMatchObject({ outcome: "unchanged", backup: undefined, text: undefined });

          expect(await uninstall({ client: client.id, path })).toMatchObject({ outcome: "removed" });
          expect(text(path)).toBe(content);
          for (const name of readdirSync(folder)) rmSync(join(folder, name));
        }
      }
    },
  );

  it("makes a file that the client can read, and the folders on its way", async () => {
    const path = join(folder, "no", "such", "config");
    const { outcome, warnings, backup } = await install({ client: client.id, path });
    expect({ outcome, backup }).toEqual({ outcome: "added", backup: undefined });
    expect(warnings).toEqual([`${dirname(path)} was not there: is ${client.title} installed?`]);
    expect(serversOf(client, path)).toEqual({ unity: entryOf(client, GLOBAL) });
    expect(readdirSync(dirname(path))).toEqual(["config"]);
    expect(await uninstall({ client: client.id, path })).toMatchObject({ outcome: "removed" });
    expect(await uninstall({ client: client.id, path })).toMatchObject({
      outcome: "absent",
      backup: undefined,
    });
  });

  it("takes an empty file for none", async () => {
    const path = file("config", "\n");
    await install({ client: client.id, path });
    expect(serversOf(client, path)).toEqual({ unity: entryOf(client, GLOBAL) });
  });

  it("replaces an older entry of ours and keeps what was added to it manually", async () => {
    const path = file("config", EXISTING[client.format](client).full);
    await install({ client: client.id, reach: CHECKOUT, path });
    const env = client.format === "toml" ? `\n[mcp_servers.unity.env]\nA = "1"\n` : undefined;
    writeFileSync(
      path,
      env === undefined
        ? text(path).replace('"command": "node"', '"env": { "A": "1" }, "command": "node"')
        : text(path) + env,
    );
    expect(await install({ client: client.id, path })).toMatchObject({ outcome: "replaced" });
    expect(serversOf(client, path)).toMatchObject({
      docs: { command: "npx" },
      unity: { ...entryOf(client, GLOBAL), env: { A: "1" } },
    });
  });

  it("leaves a server of that name that is somebody else's, unless forced", async () => {
    const path = file("config", EXISTING[client.format](client).full);
    const before = text(path);
    const how = { client: client.id, name: "docs", path };
    await expect(install(how)).rejects.toThrow(/docs that is not this broker.*--name.*--force/);
    await expect(uninstall(how)).rejects.toThrow(/docs that is not this broker.*--name.*--force/);
    expect(text(path)).toBe(before);
    expect(readdirSync(folder)).toEqual(["config"]);
    expect(await install({ ...how, force: true })).toMatchObject({ outcome: "taken" });
    expect(serversOf(client, path).docs).toEqual(entryOf(client, GLOBAL));
  });

  it("leaves a file alone that it cannot read, and names the line", async () => {
    const broken = client.format === "toml" ? 'a = 1\nb = "x\nc = 2\n' : '{\n  "a": 1,\n  "b" 2\n}\n';
    const path = file("config", broken);
    await expect(install({ client: client.id, path })).rejects.toThrow(
      /left as it was|left as it is \(line [23]:/,
    );
    await expect(uninstall({ client: client.id, path })).rejects.toThrow(/left as it is \(line [23]:/);
    expect(text(path)).toBe(broken);
    expect(readdirSync(folder)).toEqual(["config"]);
  });
});

describe("time limits", () => {
  it("are added to an entry of an older version; what the user chose stays", async () => {
    const path = file(
      "config",
      '[mcp_servers.unity]\ncommand = "unity-broker"\nargs = ["mcp"]\ntool_timeout_sec = 600\n',
    );
    expect(await install({ client: "codex", path })).toMatchObject({ outcome: "replaced" });
    const { unity } = serversOf(clientNamed("codex"), path);
    expect(unity).toMatchObject({ startup_timeout_sec: 60, tool_timeout_sec: 600 });
    expect(await install({ client: "codex", path })).toMatchObject({ outcome: "unchanged" });
  });
});

describe("an entry that changes its transport", () => {
  it("goes whole: Codex would refuse its file for a field of the other one", async () => {
    const path = file(
      "config",
      '[mcp_servers.unity]\ncommand = "unity-broker"\nargs = ["mcp"]\nenv = { A = "1" }\n',
    );
    const { warnings } = await install({ client: "codex", reach: HTTP, path });
    expect(warnings).toEqual([expect.stringMatching(/in the backup/)]);
    expect(serversOf(clientNamed("codex"), path)).toEqual({ unity: entryOf(clientNamed("codex"), HTTP) });
  });
});

describe("TOML", () => {
  it.each(['model = "gpt"\n', 'model = "gpt"', "# only this\n", "[a]\r\nb = 1\r\n"])(
    "leaves no empty table where %j named no servers",
    async (content) => {
      const path = file("config", content);
      await install({ client: "codex", path });
      await uninstall({ client: "codex", path });
      expect(text(path)).toBe(content);
    },
  );

  const UNITY = '[mcp_servers.unity] # ours\ncommand = "npx"\nargs = ["unity-job-broker", "mcp"]\n';
  it.each([
    [
      `a = 1\n\n${UNITY}\n# trusted\n[projects."/p"]\nb = 2\n`,
      'a = 1\n\n# trusted\n[projects."/p"]\nb = 2\n',
    ],
    [`# top\n[x]\n# of x\n\n${UNITY}# after\n\n# y's\n[y]\n`, "# top\n[x]\n# of x\n# after\n\n# y's\n[y]\n"],
    [
      `${UNITY}\n[mcp_servers.unity.env]\nA = "1"\n\n# docs\n[mcp_servers.docs]\ncommand = "d" # d\n`,
      '\n\n# docs\n[mcp_servers.docs]\ncommand = "d" # d\n',
    ],
    [
      `${UNITY}\n[note]\ntext = """\n[mcp_servers.unity]\n"""\n`,
      '[note]\ntext = """\n[mcp_servers.unity]\n"""\n',
    ],
  ])("keeps the comments around ours: %j", async (content, left) => {
    const path = file("config", content);
    await uninstall({ client: "codex", path });
    expect(text(path)).toBe(left);
    writeFileSync(path, content);
    await install({ client: "codex", reach: HTTP, path });
    const comments = (of: string) => of.match(/#.*/g)?.filter((one) => one !== "# ours");
    expect(comments(text(path))).toEqual(comments(content));
    expect(serversOf(clientNamed("codex"), path).unity).toEqual(entryOf(clientNamed("codex"), HTTP));
  });

  it("writes nothing that only TOML 1.1 allows, whatever the style of the file", async () => {
    const path = file("config", 'mcp_servers = { docs = { command = "a" } }\nlist = [\n  1,\n  2,\n]\n');
    await install({ client: "codex", path });
    expect(text(path)).not.toMatch(/,\s*\}/);
    expect(serversOf(clientNamed("codex"), path)).toEqual({
      docs: { command: "a" },
      unity: entryOf(clientNamed("codex"), GLOBAL),
    });
  });
});

describe("JSON", () => {
  it.each([
    ['{ "servers": { "a": {} } }', '{ "servers": { "a": {}, "unity": 1 } }'],
    ['{"servers":{"a":{},}}', '{"servers":{"a":{}, "unity": 1,}}'],
    ['{\n "servers": { // of mine\n }\n}', '{\n "servers": { // of mine\n  "unity": 1\n }\n}'],
    [
      '{\n "servers": {\n  "a": {} /* x */ // y\n }\n}',
      '{\n "servers": {\n  "a": {}, /* x */ // y\n  "unity": 1\n }\n}',
    ],
    ["// nothing yet\n", '// nothing yet\n{\n  "servers": {\n    "unity": 1\n  }\n}\n'],
  ])("%j becomes %j", (before, after) => {
    const now = jsonText.set(before, ["servers", "unity"], 1);
    expect(jsonText.read(now)).toMatchObject({ servers: { unity: 1 } });
    expect(now).toBe(after);
  });

  it.each([
    ['{ "s": { "unity": {}, "b": 1 } }', '{ "s": { "b": 1 } }'],
    ['{"s":{"a":1,"unity":{},}}', '{"s":{"a":1,}}'],
    ['{"s":{ // c\n "unity": {}, "b": 1 }}', '{"s":{ // c\n  "b": 1 }}'],
    ['{"s":{"a":1, // c\n "unity": {} }}', '{"s":{"a":1 // c\n  }}'],
    ['{"s":{ // c\n "unity": {} }}', '{"s":{ // c\n  }}'],
  ])("%j without our entry is %j", (before, after) => {
    expect(jsonText.remove(before, ["s", "unity"])).toBe(after);
    expect(() => jsonText.read(after)).not.toThrow();
  });

  it("says when a client may not read the comments that are there", async () => {
    const path = file("config", '{\n  // mine\n  "mcpServers": {}\n}\n');
    const { warnings } = await install({ client: "claude-desktop", path });
    expect(warnings).toEqual([expect.stringMatching(/plain JSON/)]);
    expect(text(path)).toContain("// mine");
  });

  it.each([
    ['{ "servers": [] }', /line 1: servers is not an object/],
    ["[]", /line 1: expected an object/],
    ['{ "servers": {}, "servers": { "a": 1 } }', /cannot be changed without/],
  ])("refuses %s", async (content, says) => {
    const path = file("config", content);
    await expect(install({ path })).rejects.toThrow(says);
    expect(text(path)).toBe(content);
  });

  it("an edit that changed anything else is noticed", () => {
    const check = (after: string) => () =>
      assertOnlyChanged(jsonText, '{"a":1,"s":{"b":2}}', after, ["s", "unity"], 3);
    expect(check('{"a":1,"s":{"b":2,"unity":3}}')).not.toThrow();
    expect(check('{"a":1,"s":{"unity":3}}')).toThrow(/without changing something else/);
    expect(check('{"a":2,"s":{"b":2,"unity":3}}')).toThrow(/without changing something else/);
    expect(check('{"a":1,"s":{"b":2,"unity":4}}')).toThrow(/without changing something else/);
  });
});

describe("a token", () => {
  it.each(CLIENTS.filter(({ http }) => http !== null))("of $id stays with its address", async (client) => {
    const path = file("config", "");
    await install({ client: client.id, reach: HTTP, path });
    const elsewhere: Reach = { transport: "http", url: "https://build.example/mcp", token: undefined };
    const moved = await install({ client: client.id, reach: elsewhere, path });
    expect(moved).toMatchObject({ outcome: "replaced", warnings: [expect.stringMatching(/in the backup/)] });
    expect(serversOf(client, path).unity).toEqual(entryOf(client, elsewhere));
  });
});

describe("the file", () => {
  const CONTENT = '{ "servers": {} }\n';

  it("keeps its mode, and its copy has it too; with a token it is its owner's alone", async () => {
    const path = file("config", CONTENT);
    // More than any umask would let it have.
    chmodSync(path, 0o666);
    const { backup } = await install({ path });
    expect([path, backup ?? ""].map((name) => statSync(name).mode & 0o777)).toEqual([0o666, 0o666]);
    expect(backup).toBe(`${path}.backup-2026-01-02T03-04-05-678Z`);
    await install({ path: file("secret"), reach: HTTP });
    expect(statSync(file("secret")).mode & 0o777).toBe(0o600);
    await install({ path, reach: HTTP });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.runIf(process.getuid?.() === 0)("stays its owner's under sudo, and its copy is theirs too", async () => {
    const path = file("config", CONTENT);
    chownSync(path, 4242, 4343);
    const { backup } = await install({ path });
    for (const name of [path, backup ?? ""]) expect(statSync(name)).toMatchObject({ uid: 4242, gid: 4343 });
  });

  it("stays a symbolic link where it is one", async () => {
    const target = file("dotfiles.json", CONTENT);
    symlinkSync("dotfiles.json", file("config"));
    const { backup } = await install({ path: file("config") });
    expect(lstatSync(file("config")).isSymbolicLink()).toBe(true);
    expect(text(target)).toContain("/usr/bin/unity-broker");
    expect(backup).toMatch(/config\.backup-/);
    symlinkSync("not-yet.json", file("dangling"));
    await install({ path: file("dangling") });
    expect(text(file("not-yet.json"))).toContain("/usr/bin/unity-broker");
    symlinkSync("ring", file("ring"));
    await expect(install({ path: file("ring") })).rejects.toThrow(/ring/);
  });

  it("stays as it is when it is read-only", async () => {
    const path = file("config", CONTENT);
    chmodSync(path, 0o444);
    await expect(install({ path })).rejects.toThrow(/read-only.*make it writable/);
    expect(text(path)).toBe(CONTENT);
    expect(readdirSync(folder)).toEqual(["config"]);
  });

  it("stays as it is when the client wrote it in between", async () => {
    const path = file("config", CONTENT);
    const read = await readClientFile(path);
    writeFileSync(path, "{}");
    const writing = replaceClientFile(read, { text: "ours", isSecret: false, now: now() });
    await expect(writing).rejects.toThrow(/changed by somebody else.*run this again/);
    expect(text(path)).toBe("{}");
    expect(readdirSync(folder)).toEqual(["config"]);
  });

  it("is never half written: another name takes its place", async () => {
    const path = file("config", CONTENT);
    const before = statSync(path).ino;
    await install({ path });
    expect(statSync(path).ino).not.toBe(before);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("is left alone when it is not UTF-8", async () => {
    const path = file("config");
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
    await expect(install({ path })).rejects.toThrow(/not UTF-8/);
  });
});

describe("the command line", () => {
  /** The built process, with a home folder of its own. */
  function type(...args: string[]) {
    return spawnType(args, "");
  }
  function spawnType(args: string[], input: string): { code: number | null; stdout: string; stderr: string } {
    const { PATH } = process.env;
    const env = { PATH, HOME: folder, USERPROFILE: folder };
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      input,
      env,
      cwd: folder,
      encoding: "utf8",
    });
    return { code: status, stdout, stderr };
  }

  it("installs, says so, does it once, shows, and takes it out again", () => {
    const path = file(".claude.json", '{\n  "numStartups": 3,\n  "mcpServers": {}\n}\n');
    const before = text(path);
    const shown = type("install", "claude-code", "--print");
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain(path);
    expect(shown.stdout).toContain(`"${MAIN}"`);
    expect(text(path)).toBe(before);
    expect(readdirSync(folder)).toEqual([".claude.json"]);

    const did = type("install", "claude-code");
    expect(did).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/unity was added/) });
    expect(did.stdout).toMatch(/backup {2}.*\.claude\.json\.backup-/);
    expect(JSON.parse(text(path))).toEqual({
      numStartups: 3,
      mcpServers: { unity: { type: "stdio", command: "node", args: [MAIN, "mcp"] } },
    });
    expect(type("install", "claude-code").stdout).toMatch(/already installed; nothing was written/);
    // What the Unity package's window writes.
    const note = join(folder, ".unity-job-broker", "launch.json");
    expect(JSON.parse(text(note))).toEqual({ command: "node", args: [MAIN, "mcp"] });
    expect(statSync(note).mode & 0o777).toBe(0o600);
    expect(type("install", "claude-code", "--http", "--token", "t").stdout).toMatch(/it was replaced/);
    expect(JSON.parse(text(path)).mcpServers.unity).toEqual({
      type: "http",
      url: "http://127.0.0.1:8787/mcp",
      headers: { Authorization: "Bearer t" },
    });
    const gone = JSON.parse(type("uninstall", "claude-code", "--json").stdout);
    expect(gone).toMatchObject({
      client: "claude-code",
      scope: "user",
      outcome: "removed",
      written: true,
      file: path,
    });
    expect(text(path)).toBe(before);
    expect(type("uninstall", "claude-code").stdout).toMatch(/not installed; nothing was written/);
  });

  it("writes a project's file, with or without naming the folder, and never the token into its report", () => {
    const did = type(
      "install",
      "vscode",
      "--project",
      "--http",
      "http://10.0.0.5:9000/mcp",
      "--token",
      "t0p",
      "--json",
    );
    expect(JSON.parse(did.stdout)).toMatchObject({
      scope: "project",
      outcome: "added",
      warnings: [expect.stringMatching(/version control/)],
    });
    expect(did.stdout).not.toContain("t0p");
    expect(text(file(".vscode/mcp.json"))).toContain("http://10.0.0.5:9000/mcp");
    mkdirSync(file("game"));
    expect(type("install", "codex", "--project", "game", "--name", "u2").code).toBe(0);
    expect(text(file("game/.codex/config.toml"))).toMatch(/^\[mcp_servers\.u2\]$/m);
    expect(existsSync(file(".codex"))).toBe(false);
  });

  it("takes a token from a file or from stdin, and warns of one among the arguments", () => {
    const header = () => JSON.parse(text(file(".cursor/mcp.json"))).mcpServers.unity.headers.Authorization;
    const among = type("install", "cursor", "--http", "--token", "t0p");
    expect(among).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/list of processes.*--token-file/),
    });
    expect(among.stderr).not.toContain("t0p");
    expect(header()).toBe("Bearer t0p");
    const secret = file("my token");
    writeFileSync(secret, "from-file\n", { mode: 0o600 });
    expect(type("install", "cursor", "--http", "--token-file", secret)).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(header()).toBe("Bearer from-file");
    const piped = spawnType(["install", "cursor", "--http", "--token", "-"], "from-stdin\n");
    expect(piped).toMatchObject({ code: 0, stderr: "" });
    expect(header()).toBe("Bearer from-stdin");
    expect(spawnType(["install", "cursor", "--http", "--token", "-"], "\n")).toMatchObject({ code: 2 });
    if (process.getuid === undefined) return;
    for (const mode of [0o640, 0o604, 0o666]) {
      chmodSync(secret, mode);
      const refused = type("install", "cursor", "--http", "--token-file", secret);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`chmod 600 '${secret}'`) });
    }
    expect(header()).toBe("Bearer from-stdin");
  });

  it.runIf(process.getuid?.() === 0)("takes no token from another user's file", () => {
    writeFileSync(file("theirs"), "t", { mode: 0o600 });
    chownSync(file("theirs"), 65534, 65534);
    const refused = type("install", "cursor", "--http", "--token-file", file("theirs"));
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/belongs to another user/) });
    expect(existsSync(file(".cursor/mcp.json"))).toBe(false);
  });

  it.each([
    [["install", "emacs"], /unknown client emacs: choose one of claude-code, claude-desktop, cursor/],
    [["uninstall"], /which client\? One of claude-code/],
    [["install", "windsurf", "--project"], /Windsurf has no file for a project/],
    [["install", "cursor", "--project", "nowhere"], /there is no such folder/],
    [["install", "cursor", "--token", "t"], /--token goes with --http/],
    [["install", "cursor", "--http", "--token="], /--token is empty/],
    [["install", "cursor", "--token-file", "f"], /--token-file goes with --http/],
    [["install", "cursor", "--http", "--token", "t", "--token-file", "f"], /not both/],
    [["install", "cursor", "--http", "--token-file", "nowhere"], /--token-file nowhere cannot be read/],
    [["install", "cursor", "--http", "8787"], /--http 8787 is not an address/],
    [["install", "cursor", "--name", "my server"], /--name my server: use letters/],
    [["install", "claude-desktop", "--http", "--token", "t"], /leave --http and --token out/],
  ])("%j is the user's mistake", (args, says) => {
    expect(type(...args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(says) });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("an optional value is not taken from the next option", () => {
    expect(withoutValues(["x", "--project", "--http", "--print"])).toEqual([
      "x",
      "--project=",
      "--http=",
      "--print",
    ]);
    expect(withoutValues(["--project", "f", "--http"])).toEqual(["--project", "f", "--http="]);
  });
});
