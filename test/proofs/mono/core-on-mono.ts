/** Core's tests, compiled for .NET Framework and run by Mono. */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../../src/embedded-redis/directories.js";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { whyNotRestored } from "../../harness/editor/dotnet.js";
import { copyForEverybody, findMono, type Mono } from "../../harness/programs/mono.js";

const FOLDER = fileURLToPath(new URL("../../../unity-plugin/DotNet~/", import.meta.url));
/** Not where other tests build Core at the same time. */
const ARTIFACTS = `${FOLDER}obj/mono`;
const BUILT = `${ARTIFACTS}/bin/Core.Tests.Mono/release`;
const BUILD_TIMEOUT_MS = 10 * 60_000;

export interface CoreOnMono {
  /** What `mono --version` says first. */
  version: string;
  /** How many tests ran. */
  total: number;
  /** The runner's text of each test that failed. */
  failures: string[];
  /** What each domain of the reload test said. */
  domains: string[];
}

/**
 * All tests, or those of these namespaces below JobBroker.Bridge.Tests without the exhaustive ones, which the .NET runtime
 * plays. Rejects if they did not run to their end.
 */
export async function runCoreOnMono(
  namespaces: readonly string[] = [],
  say: (line: string) => void = () => {},
): Promise<CoreOnMono | { missing: string }> {
  const found = await findMono();
  if ("missing" in found) return found;
  const build = ["build", `${FOLDER}Core.Tests.Mono`, "-c", "Release", "--nologo", "-v", "quiet"];
  const { TMPDIR: _ofThisRun, ...env } = process.env;
  // The compiler's server outlives this run, and so does its temporary folder.
  const built = await runCommand("dotnet", [...build, "--artifacts-path", ARTIFACTS], {
    env,
    timeoutMs: BUILD_TIMEOUT_MS,
  });
  const missing = whyNotRestored(built.output);
  if (missing !== undefined) return { missing };
  if (built.code !== 0) throw new Error(`Core.Tests.Mono was not built: ${built.output.slice(-4000)}`);
  const isForOthers = found.tree !== undefined && process.getuid?.() === 0;
  const copy = isForOthers && found.tree ? copyForEverybody(found.tree, process.env) : undefined;
  try {
    return await run(copy?.mono ?? found, namespaces, say);
  } finally {
    if (copy) rmSync(copy.folder, { recursive: true, force: true });
  }
}

async function run(
  mono: Mono,
  namespaces: readonly string[],
  say: (line: string) => void,
): Promise<CoreOnMono> {
  const { output: version } = await runCommand(mono.file, ["--version"], {
    env: mono.env,
    timeoutMs: 30_000,
  });
  const chosen = namespaces.flatMap((name) => ["-namespace", `JobBroker.Bridge.Tests.${name}`]);
  if (chosen.length > 0) chosen.push("-notrait", "Form=exhaustive");
  const { code, output } = await runToEnd(
    mono.file,
    ["runner/xunit.console.exe", "Core.Tests.exe", "-noshadow", "-nocolor", ...chosen],
    mono.env,
    say,
  );
  const total = /Core\.Tests\s+Total: (\d+)/.exec(output)?.[1];
  if (total === undefined)
    throw new Error(`The tests on Mono did not end (exit code ${code}): ${output.slice(-4000)}`);
  const failures = output.split(/\n(?= {4}\S)/).filter((part) => /^ {4}\S.* \[FAIL\]/.test(part));
  if (code !== 0 && failures.length === 0)
    throw new Error(`The tests on Mono ended with ${code}: ${output.slice(-4000)}`);
  return {
    version: version.split("\n", 1)[0] ?? "",
    total: Number(total),
    failures,
    domains: output.split("\n").filter((line) => line.startsWith("domain ")),
  };
}

function runToEnd(
  file: string,
  args: readonly string[],
  env: Environment,
  say: (line: string) => void,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: BUILT, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (bytes: Buffer) => {
        const text = bytes.toString("utf8");
        output += text;
        say(text.trimEnd());
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
