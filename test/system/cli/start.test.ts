/** What the command line loads before it begins: nearly all that a start takes. `npm run bench-start` measures the time. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { environment } from "../../harness/processes/installation.js";
import { MAIN } from "../../harness/processes/processes.js";

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-start-"));
  env = environment(folder, { UNITY_BROKER_DATA_DIR: join(folder, "data") });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The files of a command's whole run, by their paths: Node notes each program text that it was given. */
function loadedBy(args: readonly string[], more: Record<string, string> = {}): string[] {
  const coverage = mkdtempSync(join(folder, "loaded-"));
  try {
    execFileSync(process.execPath, [MAIN, ...args], {
      env: { ...env, ...more, NODE_V8_COVERAGE: coverage },
      stdio: "ignore",
    });
  } catch {
    // A gateway that is not there makes a failure of the call, which loads what a call loads.
  }
  const [report = ""] = readdirSync(coverage);
  const { result } = JSON.parse(readFileSync(join(coverage, report), "utf8")) as {
    result: { url: string }[];
  };
  return result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
}

const packagesIn = (files: readonly string[]): string[] => [
  ...new Set(files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [])),
];
/** Our own modules in the bundle's files, each of which is named in a comment before its code. */
const modulesIn = (files: readonly string[]): string[] =>
  files
    .filter((file) => file.includes("/dist/"))
    .flatMap((file) => readFileSync(new URL(file), "utf8").match(/(?<=^\/\/ )src\/.*\.ts$/gm) ?? []);

/** What a call through a gateway elsewhere may load: a tenth more than it does. */
const MOST_FILES = 320;
const MOST_BYTES = 2_000_000;

const NOBODY = { UNITY_BROKER_URL: "http://127.0.0.1:1/mcp" };

describe("what is loaded", () => {
  test.each([
    { args: ["--help"] },
    { args: ["call", "--help"] },
    { args: ["up", "--help"] },
    { args: ["token", "create", "--help"] },
    { args: ["tools", "--never-heard-of"] },
    { args: ["no-such-command"] },
  ])("$args: what commands declare, and not what they run", ({ args }) => {
    const files = loadedBy(args);
    expect(packagesIn(files)).toEqual(["citty"]);
    const modules = modulesIn(files);
    expect(modules).toContain("src/cli/main.ts");
    expect(
      modules.filter((module) => /^src\/cli\/(client|commands|processes|doctor)\//.test(module)),
    ).toEqual([]);
  });

  test.each([{ args: ["call", "x"] }, { args: ["tools"] }, { args: ["list"] }])(
    "$args through a gateway elsewhere: no store, no worker, no gateway",
    ({ args }) => {
      const files = loadedBy(args, NOBODY);
      const packages = packagesIn(files);
      expect(files.length).toBeLessThan(MOST_FILES);
      expect(files.reduce((sum, file) => sum + statSync(new URL(file)).size, 0)).toBeLessThan(MOST_BYTES);
      expect(packages).toContain("@modelcontextprotocol/sdk");
      for (const heavy of ["bullmq", "ioredis", "fastify", "pino"]) expect(packages).not.toContain(heavy);
      const modules = modulesIn(files);
      expect(modules).toContain("src/cli/main.ts");
      expect(modules.filter((module) => /^src\/(gateway|worker|shared\/store)\//.test(module))).toEqual([
        "src/gateway/results/result-uri.ts",
      ]);
    },
  );
});
