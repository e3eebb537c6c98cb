/** The C# side's own tests (xunit), run with the others wherever a .NET SDK is. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { hasDotnet, whyNotRestored } from "../../harness/editor/dotnet.js";

const FOLDER = fileURLToPath(new URL("../../../unity-plugin/DotNet~/", import.meta.url));
/** Slow on a machine whose cores are busy: the compilers, then processes that are killed a hundred times. */
const LIMIT_MS = 15 * 60_000;

describe("dotnet test", { skip: !hasDotnet }, () => {
  test.for(["Core.Tests", "Editor.Tests"])("%s", { timeout: LIMIT_MS }, async (project, { skip }) => {
    expect(existsSync(`${FOLDER}${project}`), `${project} is there`).toBe(true);
    const { code, output } = await dotnet(["test", `${FOLDER}${project}`, "-c", "Release", "--nologo"]);
    const missing = whyNotRestored(output);
    if (missing !== undefined) return skip(missing);
    const summary = output.split("\n").filter((line) => /^(Passed|Failed)!/.test(line.trim()));
    console.log(`${project}: ${summary.join(" ").trim()}`);
    expect(code, output.slice(-8000)).toBe(0);
    expect(summary).toHaveLength(1);
  });
});

function dotnet(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    // The compiler's server outlives this run, and so does its temporary folder.
    const { TMPDIR: _ofThisRun, ...env } = process.env;
    const child = spawn("dotnet", args, { stdio: ["ignore", "pipe", "pipe"], env });
    let output = "";
    child.stdout.on("data", (text: Buffer) => (output += text.toString("utf8")));
    child.stderr.on("data", (text: Buffer) => (output += text.toString("utf8")));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
