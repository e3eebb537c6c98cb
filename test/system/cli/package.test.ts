/** The package as users get it: packed, installed in an empty folder without a network, run by its names. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { identify } from "../../../src/shared/machine/living-process.js";
import { environment } from "../../harness/processes/installation.js";
import { CHECKOUT, install, npm, run } from "../../harness/processes/installed-package.js";
import { until } from "../../harness/processes/processes.js";
import { createDataDirectory } from "../../harness/redis/redis.js";

/**
 * Of the tarball, bytes: a guard against what gets in by accident. It had 2.1 MB at the end of November 2026 (1.03 before the
 * background broker, the connected clients, the last catalogues, the adapters, launch and reports; 1.55 before tasks and
 * requests without a session; 1.85 before configuration files, the REST API, live events, traces and the operators' page), more than half of
 * it the sources inside the maps.
 */
const LARGEST = 2_200_000;

interface Packed {
  filename: string;
  size: number;
  files: { path: string }[];
}

let scratch: string;
/** The folder with node_modules in which it is installed. */
let home: string;
let packed: Packed;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "ujb-package-"));
  packed = await pack();
  home = await install(join(scratch, packed.filename), scratch);
  // The compiler alone takes half a minute of a small machine.
}, 600_000);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Packs a copy of this checkout, so that its `prepack` builds anew without disturbing other tests' `dist`. */
async function pack(): Promise<Packed> {
  const copy = join(scratch, "checkout");
  await mkdir(copy);
  for (const name of readdirSync(CHECKOUT)) {
    if ([".git", "node_modules", "dist", "coverage"].includes(name)) continue;
    cpSync(join(CHECKOUT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(CHECKOUT, "node_modules"), join(copy, "node_modules"), "junction");
  // What an earlier build left must not get into the package.
  await mkdir(join(copy, "dist"));
  writeFileSync(join(copy, "dist", "long-gone.js"), "");
  const output = await npm(["pack", "--json", "--pack-destination", scratch], copy, scratch);
  // The build's own words come first.
  const [answer] = JSON.parse(output.slice(output.indexOf("[\n"))) as [Packed];
  return answer;
}

/** By name, as a user types it. */
const npx = (...args: string[]) => run("npx", ["--offline", "--no", "--", ...args], home);

describe("the tarball", () => {
  test("holds what runs and what it means, and no file of development", () => {
    const expected = new Set(["package.json", "README.md", "LICENSE", "CHANGELOG.md", "config.schema.json"]);
    for (const named of readdirSync(join(CHECKOUT, "src"), { recursive: true, encoding: "utf8" })) {
      const entry = named.replaceAll("\\", "/");
      // The page is for browsers: neither maps nor declarations, and its files as they are.
      if (entry.startsWith("page/")) {
        if (entry.endsWith(".ts")) expected.add(`dist/${entry.replace(/\.ts$/, ".js")}`);
        else if (/\/files\/.*\./.test(entry)) expected.add(`dist/${entry.replace("/files/", "/")}`);
        continue;
      }
      // The command line is one bundle.
      if (entry.startsWith("cli/")) continue;
      if (entry.endsWith(".json")) expected.add(`dist/${entry}`);
      const stem = /^(.*)\.ts$/.exec(entry)?.[1];
      if (stem) for (const ending of ["js", "d.ts"]) expected.add(`dist/${stem}.${ending}`);
    }
    expected.add("dist/cli/main.js");
    const paths = packed.files
      .map(({ path }) => path)
      .filter((path) => !/^dist\/chunks\/\w+\.js$/.test(path));
    expect(paths.filter((path) => !expected.has(path))).toEqual([]);
    expect([...expected].filter((path) => !paths.includes(path))).toEqual([]);
  });

  test("is small", () => {
    expect(packed.size).toBeLessThan(LARGEST);
  });
});

describe("installed in an empty folder", () => {
  const { version } = JSON.parse(readFileSync(join(CHECKOUT, "package.json"), "utf8")) as { version: string };

  test.each(["unity-broker", "unity-job-broker"])("%s runs", async (name) => {
    expect(await npx(name, "--version")).toMatchObject({ code: 0, stdout: `${version}\n` });
    const help = await npx(name, "--help");
    expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/\bmcp\b/) });
  });

  test("npx unity-job-broker mcp serves a client, and ends with it", async () => {
    const data = createDataDirectory();
    const logs = join(scratch, "logs");
    const env = environment(scratch, {
      UNITY_BROKER_DATA_DIR: data.dataDir,
      UNITY_BROKER_CACHE_DIR: defaultDirectories(process.env).cacheDir,
      MCP_DEBUG: logs,
    });
    try {
      const client = new Client({ name: "user", version: "1" });
      const transport = new StdioClientTransport({
        command: process.platform === "win32" ? "npx.cmd" : "npx",
        args: ["--offline", "--no", "--", "unity-job-broker", "mcp"],
        cwd: home,
        env: env as Record<string, string>,
        stderr: "ignore",
      });
      await client.connect(transport);
      expect(client.getServerVersion()).toMatchObject({ version });
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain("get_operation_result");
      // npx is the client's child; the log's name tells the process that serves.
      const pid = Number(/^unity-broker-mcp-(\d+)\.log$/.exec(readdirSync(logs)[0] ?? "")?.[1]);
      expect(identify(pid)).toBeDefined();

      await client.close();
      await until("the process is gone", () => identify(pid) === undefined);
    } finally {
      await data.remove();
    }
  });
});

describe("a program that imports it", () => {
  test("gets the gateway, the worker and the store with their types, and nothing else", async () => {
    const program = join(home, "program.mts");
    writeFileSync(
      program,
      `import { createGateway, type Gateway } from "unity-job-broker/gateway";
       import { createHttpGateway } from "unity-job-broker/http";
       import { openStore } from "unity-job-broker/store";
       import { createWorker } from "unity-job-broker/worker";
       const said: string[] = [];
       const log = { debug() {}, info() {}, warn() {}, error(_values: Record<string, unknown>, message: string) { said.push(message); } };
       export async function serve(url: string): Promise<string> {
         const store = await openStore(url, { retentionMs: 3_600_000 });
         const gateway: Gateway = createGateway({ store, log });
         createWorker({ store, log, editorsFolder: "editors", version: "1", originKey: Buffer.alloc(32) });
         const http = await createHttpGateway({ gateway, log, version: "1" }, { host: "127.0.0.1", port: 0 });
         // @ts-expect-error a number is no URL
         await openStore(6379, { retentionMs: 1 });
         return http.url;
       }
       const refused = await import("unity-job-broker/dist/cli/main.js" as string).catch((error) => error.code);
       console.log(typeof serve, refused);
      `,
    );
    const tsc = join(CHECKOUT, "node_modules", "typescript", "bin", "tsc");
    const types = join(CHECKOUT, "node_modules", "@types");
    const flags = ["--strict", "--target", "es2023", "--module", "nodenext", "--skipLibCheck"];
    const compiled = await run(
      process.execPath,
      [tsc, ...flags, "--typeRoots", types, "--types", "node", program],
      home,
    );
    expect(compiled).toMatchObject({ code: 0, stdout: "" });
    expect(await run(process.execPath, [program.replace(/mts$/, "mjs")], home)).toMatchObject({
      code: 0,
      stdout: "function ERR_PACKAGE_PATH_NOT_EXPORTED\n",
    });
  });
});
