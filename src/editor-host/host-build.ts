/** Builds the stand-in Editor: the C# bridge's own Core, in a process without Unity. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageFile } from "../shared/package-file.js";

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
