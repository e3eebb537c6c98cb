/** Each command of README.md is run as it stands there, by a user who has installed the package. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BACKGROUND } from "../../harness/processes/brokers.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { CHECKOUT, install, npm, type Ran } from "../../harness/processes/installed-package.js";
import { until } from "../../harness/processes/processes.js";

const README = readFileSync(join(CHECKOUT, "README.md"), "utf8");
const { here, closeLater } = useCommandLine();
let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "ujb-readme-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function blocks(language: string): string[] {
  return [...README.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, name, text = ""]) =>
    name === language ? [text] : [],
  );
}

/** In their order, each once: what stands in its shell blocks, without comments. */
function commands(): string[] {
  const lines = blocks("sh").flatMap((block) => block.trim().split("\n"));
  const typed = lines.flatMap((line) => line.replace(/\s+# .*$/, "").split(" && "));
  return [...new Set(typed)];
}

const textOf = (...path: string[]): string => readFileSync(join(CHECKOUT, ...path), "utf8");

/** A command as somebody types it where the package is installed. */
function typeIn(command: string): { pid: number; said: () => string; ended: Promise<Ran> } {
  const bin = join(scratch, "empty", "node_modules", ".bin");
  const env = {
    ...here().env,
    ...BACKGROUND,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    UNITY_BROKER_PORT: "0",
  };
  // exec: a signal goes to the program, as from a terminal.
  const child = spawn("/bin/sh", ["-c", `exec ${command}`], { cwd: scratch, env });
  const pid = child.pid ?? 0;
  here().processes.guard(pid);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  const ended = new Promise<Ran>((done) => child.once("close", (code) => done({ code, ...said })));
  return { pid, said: () => said.stdout + said.stderr, ended };
}

/** Of a command that ends by itself, and well. */
async function outputOf(command: string): Promise<string> {
  const { code, stdout, stderr } = await typeIn(command).ended;
  expect(code, `${command}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

/** What a command of the README needs to be run here, and what it must do. In their order: one needs the other. */
const PLAYS: Record<string, (command: string) => Promise<void> | void> = {
  // The check of every change runs these two themselves.
  "npm ci": () => expect(textOf(".ci", "run")).toMatch(/^npm ci\b/m),
  "npm test": () => expect(textOf(".ci", "run")).toMatch(/^npm test\b/m),

  "npm run demo": () => {
    const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };
    expect(scripts.demo).toBe("npm run --silent build && node dist/cli/main.js demo");
    // Beside this file: it runs the rest, and compares every line.
    expect(textOf("test", "system", "readme", "recording.test.ts")).toContain('record(["demo"]');
  },

  "npm pack": async (command) => {
    // Its build, which `prepack` does, is that of package.test.ts: here it would take dist from other tests.
    await npm(
      [...command.split(" ").slice(1), "--ignore-scripts", "--pack-destination", scratch],
      CHECKOUT,
      scratch,
    );
    expect(textOf("test", "system", "cli", "package.test.ts")).toContain('npm(["pack"');
  },

  "npm install -g ./unity-job-broker-0.1.0.tgz": async (command) => {
    const file = join(scratch, command.split(" ").at(-1) ?? "");
    expect(existsSync(file), `npm pack made no ${file}`).toBe(true);
    // Not -g: it would look for the dependencies in the registry.
    await install(file, scratch);
    expect(await outputOf("unity-broker --version")).toBe("0.1.0\n");
  },

  "unity-broker install claude-code": async (command) => {
    await outputOf(command);
    const file = join(here().env.HOME ?? "", ".claude.json");
    const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as {
      mcpServers: { unity: { command: string; args: string[] } };
    };
    entry = mcpServers.unity;
  },

  "unity-broker up --simulate": async (command) => {
    up = typeIn(command);
    await until("it serves", () => /^MCP endpoint: /m.test(up?.said() ?? ""));
    await until("it knows the Editor's tools", () => up?.said().includes("the Editor's tools changed"));
  },

  "unity-broker doctor": async (command) => expect(await outputOf(command)).toMatch(/^All is well\.$/m),
  "unity-broker tools": async (command) => expect(await outputOf(command)).toMatch(/^run-tests /m),

  "unity-broker call run-tests --follow": async (command) =>
    expect(await outputOf(command)).toMatch(/^completed {2}run-tests[\s\S]*"passed": 10/),

  'unity-broker call execute-menu-item --args \'{"MenuItemPath": "Assets/Refresh"}\'': async (command) => {
    const output = await outputOf(command);
    expect(output).toMatch(/^completed {2}execute-menu-item/);
    logId = /^log_id (\S+)$/m.exec(output)?.[1];
    // "Type a command again after you have seen its outcome, and it runs again."
    expect(/^log_id (\S+)$/m.exec(await outputOf(command))?.[1]).not.toBe(logId);
  },

  "unity-broker explain <log_id>": async (command) => {
    expect(logId).toBeDefined();
    const story = await outputOf(command.replace("<log_id>", logId ?? ""));
    for (const word of ["sent", "started", "completed"])
      expect(story).toMatch(new RegExp(`\\b${word}\\b`, "i"));
  },
};
let entry: { command: string; args: string[] } | undefined;
let up: ReturnType<typeof typeIn> | undefined;
let logId: string | undefined;

test("every command has its play, and every play its command", () => {
  expect(commands()).toEqual(expect.arrayContaining(["npm ci", "unity-broker up --simulate"]));
  expect(commands().filter((command) => !Object.hasOwn(PLAYS, command))).toEqual([]);
  expect(Object.keys(PLAYS).filter((command) => !commands().includes(command))).toEqual([]);
  // A command in a block of another kind would not be looked at.
  const kinds = [...README.matchAll(/^```(\w*)\n.*?^```$/gms)].map(([, kind]) => kind);
  expect(new Set(kinds)).toEqual(new Set(["sh", "jsonc"]));
});

test("each command does what is said, typed one after the other", async () => {
  for (const command of commands()) await PLAYS[command]?.(command);
  await oneCallExplained();

  expect(await typeIn("unity-broker up --simulated").ended).toMatchObject({ code: 2 });
  // "Ctrl-C ends it."
  if (up === undefined) throw new Error("nothing was started");
  process.kill(up.pid, "SIGINT");
  expect(await up.ended).toMatchObject({ code: 0 });
});

/** The calls of the jsonc block, by a client that starts what `install` has written, and the answers below them. */
async function oneCallExplained(): Promise<void> {
  if (entry === undefined) throw new Error("nothing was installed");
  const env = { ...here().env, PATH: process.env.PATH } as Record<string, string>;
  const client = new Client({ name: "reader", version: "1" });
  closeLater(() => client.close());
  await client.connect(new StdioClientTransport({ ...entry, env, cwd: scratch, stderr: "ignore" }));

  const lines = blocks("jsonc").join("").trim().split("\n");
  const handles: Record<string, string> = {};
  for (let index = 0; index < lines.length; index += 2) {
    const [, name = "", written = ""] = /^\/\/ tools\/call (\S+) (\{.*\})$/.exec(lines[index] ?? "") ?? [];
    // What takes long here.
    const long = written.replace("Build/Android", "Simulator/Block For 3 Seconds");
    const known = Object.entries(handles).reduce((text, [from, to]) => text.replace(from, to), long);
    const answer = (await client.callTool({ name, arguments: JSON.parse(known) })).structuredContent;
    const shown = JSON.parse((lines[index + 1] ?? "").replace("{ … }", "{}")) as Record<string, unknown>;
    for (const [key, value] of Object.entries(shown)) {
      const real = (answer as Record<string, unknown>)[key];
      const beginning =
        typeof value === "string" && value.endsWith("…") ? value.slice(0, -1).trimEnd() : undefined;
      if (key === "log_id" && typeof real === "string") {
        expect(handles[String(value)] ?? real).toBe(real);
        handles[String(value)] = real;
      } else if (beginning !== undefined) expect(real).toMatch(new RegExp(`^${beginning}`));
      else if (key === "result") expect(real).toBeTypeOf("object");
      else expect(real, `${key} of ${name}`).toBe(value);
    }
  }
}

test("at most 900 words, and every picture and page that it names is there", () => {
  expect(README.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(900);
  const named = [...README.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, a, b]) => a ?? b ?? "",
  );
  const missing = named.filter((path) => !path.startsWith("https:") && !existsSync(join(CHECKOUT, path)));
  expect(missing).toEqual([]);
});
