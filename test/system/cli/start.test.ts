/** How long the command line takes to begin, as a multiple of Node's own start, and what it loads for it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { environment } from "../../harness/processes/installation.js";
import { MAIN } from "../../harness/processes/processes.js";

/** The best of so many starts counts: other programs of the machine only ever add to one. */
const STARTS = 9;
/** What a start may take, as a multiple of `node -e 0`; a call's goal is 6, the rest is for a machine that is busy. */
const LIMITS = { help: 2.5, call: 7.5 };

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
const partsIn = (files: readonly string[]): string[] => [
  ...new Set(files.flatMap((file) => /\/dist\/(\w[\w-]*)\//.exec(file)?.[1] ?? [])),
];

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
    expect(files.filter((file) => /\/dist\/cli\/(client|commands|processes|doctor)\//.test(file))).toEqual(
      [],
    );
  });

  test.each([{ args: ["call", "x"] }, { args: ["tools"] }, { args: ["list"] }])(
    "$args through a gateway elsewhere: no store, no worker, no gateway",
    ({ args }) => {
      const files = loadedBy(args, NOBODY);
      const packages = packagesIn(files);
      expect(packages).toContain("@modelcontextprotocol/sdk");
      for (const heavy of ["bullmq", "ioredis", "fastify", "pino"]) expect(packages).not.toContain(heavy);
      expect(partsIn(files)).not.toContain("worker");
      expect(files.filter((file) => /\/dist\/(gateway|shared\/store)\//.test(file))).toEqual([
        expect.stringMatching(/\/dist\/gateway\/results\/result-uri\.js$/),
      ]);
    },
  );
});

describe("how long it takes", () => {
  let peer: Server;
  let port: number;
  beforeEach(async () => {
    // Somebody to talk to, who never answers.
    peer = createServer();
    await once(peer.listen(0, "127.0.0.1"), "listening");
    ({ port } = peer.address() as AddressInfo);
  });
  afterEach(() => void peer.close());

  const start = (args: readonly string[], more: Record<string, string> = {}): ChildProcess =>
    spawn(process.execPath, args, { env: { ...env, ...more }, stdio: "ignore" });

  const toItsEnd = async (args: readonly string[]): Promise<number> => {
    const startedAt = performance.now();
    await once(start(args), "close");
    return performance.now() - startedAt;
  };

  /** Until it begins to talk to whom it asks. */
  const toItsFirstWord = async (args: readonly string[], more: Record<string, string>): Promise<number> => {
    const startedAt = performance.now();
    const child = start(args, more);
    const [socket] = await once(peer, "connection");
    const took = performance.now() - startedAt;
    child.kill("SIGKILL");
    await once(child, "close");
    socket.destroy();
    return took;
  };

  test("help and a call begin within a few starts of Node", { timeout: 240_000 }, async () => {
    const measured = {
      node: () => toItsEnd(["-e", "0"]),
      help: () => toItsEnd([MAIN, "--help"]),
      helpOfCall: () => toItsEnd([MAIN, "call", "--help"]),
      remote: () => toItsFirstWord([MAIN, "call", "x"], { UNITY_BROKER_URL: `http://127.0.0.1:${port}/mcp` }),
      local: () => toItsFirstWord([MAIN, "call", "x"], { REDIS_URL: `redis://127.0.0.1:${port}` }),
    };
    const best = { node: Infinity, help: Infinity, helpOfCall: Infinity, remote: Infinity, local: Infinity };
    const names = Object.keys(measured) as (keyof typeof measured)[];
    for (let round = 0; round < STARTS; round++)
      for (const name of names) best[name] = Math.min(best[name], await measured[name]());
    const ratios = Object.fromEntries(names.map((name) => [name, best[name] / best.node]));
    const said = JSON.stringify(ratios);
    expect(ratios.help, said).toBeLessThan(LIMITS.help);
    expect(ratios.helpOfCall, said).toBeLessThan(LIMITS.help);
    expect(ratios.remote, said).toBeLessThan(LIMITS.call);
    expect(ratios.local, said).toBeLessThan(LIMITS.call);
  });
});
