/**
 * An Editor without Unity that runs the C# bridge: EditorHost processes, one after the other, on one port and ledger.
 *
 * `crash` and `restart` are SIGKILL and a new process; every other command goes to the running process.
 */

import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { packageFile } from "../shared/package-file.js";
import { type HostAnswer, type HostProcess, startHost } from "./host-process.js";

export interface EditorHostOptions {
  /** 0: any free port; undefined: the first free one of 8700 to 8799. */
  port?: number;
  projectPath?: string;
  counterFile?: string;
  ledgerFolder?: string;
  endpointFolder: string;
  timeScale: number;
  /** Which pools it is in. */
  labels?: readonly string[];
  /** Tools may be called without the token. */
  plainSurface: boolean;
  say(message: string): void;
}

export interface EditorHost {
  readonly editorId: string;
  readonly port: number;
  /** Obeys commands on `input` until it ends or `quit` arrives. */
  obey(io: { input: Readable; output: Writable }): Promise<void>;
  close(): Promise<void>;
}

/** Starts the first process; rejects with a message that names the missing part. */
export async function startEditorHost(options: EditorHostOptions): Promise<EditorHost> {
  const file = await editorHostFile(options.say);
  const args = (port: number | undefined): string[] => [
    ...given("--port", port),
    ...given("--project", options.projectPath),
    ...given("--counter-file", options.counterFile),
    ...given("--ledger-folder", options.ledgerFolder),
    ...given("--endpoint-folder", options.endpointFolder),
    ...given("--time-scale", options.timeScale),
    ...given("--labels", options.labels?.join(",")),
    ...(options.plainSurface ? ["--plain-surface"] : []),
  ];
  const first = await startHost(file, args(options.port));
  const { editorId, port } = first;
  let living: HostProcess | undefined = first;

  const crash = async (): Promise<HostAnswer> => {
    const dying = living;
    living = undefined;
    await dying?.kill();
    return { ok: true };
  };
  const restart = async (): Promise<HostAnswer> => {
    if (living) return { ok: false, error: "the Editor is running; crash it first" };
    living = await startHost(file, args(port));
    const { editorSessionId } = await living.ask({ do: "status" });
    return { ok: true, editorSessionId };
  };
  const obeyOne = async (line: string): Promise<HostAnswer> => {
    const command = JSON.parse(line) as { do?: string };
    if (command.do === "crash") return crash();
    if (command.do === "restart") return restart();
    if (!living) return { ok: false, error: "the Editor is not running" };
    return living.ask(command);
  };

  return {
    editorId,
    port,
    async obey({ input, output }) {
      for await (const line of createInterface({ input })) {
        if (line.trim() === "") continue;
        const answer = await obeyOne(line).catch((error: Error) => ({ ok: false, error: error.message }));
        output.write(`${JSON.stringify(answer)}\n`);
        if (/"do"\s*:\s*"quit"/.test(line)) break;
      }
    },
    async close() {
      const last = living;
      living = undefined;
      await last?.quit();
    },
  };
}

function given(option: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [option, String(value)];
}

// Builds the stand-in Editor: the C# bridge's own Core, in a process without Unity.

const PLUGIN = packageFile("unity-plugin");
const PROJECT = join(PLUGIN, "DotNet~", "EditorHost", "EditorHost.csproj");
const BUILT = join(dirname(PROJECT), "bin", "Release", "net10.0", "EditorHost.dll");
/** The sources of the host, without their tests. */
const SOURCES = [
  "Core",
  "DotNet~/Core",
  "DotNet~/EditorHost",
  "DotNet~/EditorHost.Domain",
  "DotNet~/EditorHost.Native",
];
const MAJOR = 10;

/**
 * Answers the path of EditorHost.dll, after building it if it is missing or older than its sources.
 *
 * Rejects with a sentence that tells what to do: outside a checkout, without the .NET SDK, or if it does not build.
 */
export async function editorHostFile(say: (message: string) => void): Promise<string> {
  if (!existsSync(PROJECT)) {
    throw new Error(
      "--engine dotnet needs a checkout of the project: the installed package has no C# sources. Leave --engine out.",
    );
  }
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs >= newestSource()) return BUILT;
  await requireSdk();
  say("Building the Editor stand-in (dotnet build, once) …");
  const { code, output } = await run(["build", PROJECT, "-c", "Release", "--nologo", "-v", "quiet"]);
  if (code !== 0) throw new Error(`The Editor stand-in does not build:\n${output}`);
  return BUILT;
}

/** Undefined if a .NET SDK that can build the C# side is on PATH; otherwise a message that tells how to get one. */
export async function missingSdk(): Promise<string | undefined> {
  const { code, output } = await run(["--list-sdks"]);
  const newest = Math.max(0, ...output.split("\n").map((line) => Number.parseInt(line, 10) || 0));
  if (code === 0 && newest >= MAJOR) return undefined;
  const found =
    code === 0 && newest > 0 ? `only .NET SDK ${newest} was found` : "no .NET SDK was found on PATH";
  return `The C# side needs the .NET SDK ${MAJOR} (https://dot.net), ${found}.`;
}

async function requireSdk(): Promise<void> {
  const missing = await missingSdk();
  if (missing !== undefined) throw new Error(missing);
}

function newestSource(): number {
  let newest = 0;
  for (const folder of SOURCES) {
    for (const entry of readdirSync(join(PLUGIN, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(cs|csproj)$/.test(entry.name)) continue;
      if (/[\\/](bin|obj)([\\/]|$)/.test(entry.parentPath)) continue;
      newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
    }
  }
  return newest;
}

/** A command that cannot be started has code -1. */
function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn("dotnet", args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (text: Buffer) => (output += text.toString("utf8")));
    child.stderr.on("data", (text: Buffer) => (output += text.toString("utf8")));
    child.on("error", (error) => resolve({ code: -1, output: error.message }));
    child.on("close", (code) => resolve({ code: code ?? -1, output }));
  });
}
