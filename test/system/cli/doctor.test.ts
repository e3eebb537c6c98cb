/** The doctor: each way in which a set-up is broken is named, and the command that it prints fixes it. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { gatewayOriginOf } from "../../../src/cli/gateway-origin.js";
import { selfCommand } from "../../../src/cli/self.js";
import { withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { findProgram, searchDirectories } from "../../../src/embedded-redis/run-command.js";
import { shellQuoted } from "../../../src/shared/machine/private-folder.js";
import { played } from "../../harness/long-form.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN, until } from "../../harness/processes/processes.js";
import { redisHere, startTestRedis, type TestRedis } from "../../harness/redis/redis.js";

const { type, start, here, closeLater } = useCommandLine();

interface Finding {
  check: string;
  state: "ok" | "warning" | "problem";
  says: string;
  next?: string;
  fix?: string;
}

const findingsIn = (stdout: string): Finding[] => JSON.parse(stdout) as Finding[];

async function examine(
  env: Record<string, string> = {},
): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, stdout, stderr } = await type(["doctor", "--json"], env);
  expect(stderr).not.toMatch(/\n {4}at /);
  return { code, findings: findingsIn(stdout) };
}

/** Runs the fix as a person would, and the doctor after it in the same shell. */
async function fixed(fix: string, env: Record<string, string>, typed = ""): Promise<Finding[]> {
  const script = `${fix} >/dev/null && ${process.execPath} ${MAIN} doctor --json`;
  const shell = spawn("/bin/sh", ["-c", script], { env: { ...here().env, ...env } });
  shell.stdin.end(typed);
  let stdout = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  await new Promise((resolve) => shell.once("close", resolve));
  return findingsIn(stdout);
}

const simulate = async (name = "Shop"): Promise<void> => {
  const ledger = join(here().folder, `${name}.ledger`);
  const project = join(here().folder, name);
  const args = ["simulate", "--port", "0", "--project", project, "--ledger-folder", ledger];
  await start(name, args).line(/^Simulated Unity Editor/);
};

/** A Redis of the user's own, over TCP. */
async function ownRedis(): Promise<{ redis: TestRedis; hand: Redis; url: string }> {
  const redis = await startTestRedis();
  const hand = new Redis({ ...redis.connection, maxRetriesPerRequest: 1 });
  closeLater(async () => {
    hand.disconnect();
    await redis.stop();
  });
  return { redis, hand, url: await urlOf(hand, redis) };
}

/** Tests' servers listen on a socket; a person's has a port. */
async function urlOf(hand: Redis, redis: TestRedis): Promise<string> {
  if ("port" in redis.connection) return `redis://127.0.0.1:${redis.connection.port}`;
  const port = await freePort();
  await hand.config("SET", "port", String(port));
  return `redis://127.0.0.1:${port}`;
}

async function freePort(): Promise<number> {
  const { port, server } = await listen();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listen(): Promise<{ port: number; server: Server }> {
  const server = createServer((socket) => socket.resume().end("HTTP/1.1 200 OK\r\n\r\nhello")).listen(
    0,
    "127.0.0.1",
  );
  await new Promise((resolve) => server.once("listening", resolve));
  return { port: (server.address() as { port: number }).port, server };
}

/** With `redis-cli`, as a fix names it, from wherever this machine has it; where there is a Valkey, its own answers by that name. */
async function withRedisCli(env: Record<string, string>): Promise<Record<string, string>> {
  const { file, libraryPath } = await redisHere();
  const { LD_LIBRARY_PATH: libraries = "" } = withLibraries(process.env, libraryPath);
  const directories = [dirname(file), ...searchDirectories(process.env, process.platform)];
  const found = findProgram(["redis-cli", "valkey-cli"], directories);
  const bin = join(here().folder, "bin");
  mkdirSync(bin, { recursive: true });
  if (found) symlinkSync(found, join(bin, "redis-cli"));
  return { ...env, PATH: `${bin}:${process.env.PATH}`, LD_LIBRARY_PATH: libraries };
}

interface Broken {
  env?: Record<string, string>;
  check: string;
  state?: "warning" | "problem";
  says: RegExp;
}

/** Title → breaks something; what the doctor says then. The fix that it prints is run. */
const BROKEN: Record<string, () => Promise<Broken>> = {
  async "a variable that is no number"() {
    return { env: { UNITY_BROKER_PORT: "http" }, check: "configuration", says: /UNITY_BROKER_PORT/ };
  },
  async "a data directory that is a file"() {
    const file = join(here().folder, "data");
    writeFileSync(file, "");
    // Once it is fixed, a private Redis runs there.
    closeLater(() => type(["down"], { UNITY_BROKER_DATA_DIR: file }));
    return { env: { UNITY_BROKER_DATA_DIR: file }, check: "data", says: /it is not a folder/ };
  },
  async "a token file that is none"() {
    const tokens = join(here().folder, "my tokens.json");
    writeFileSync(tokens, "{");
    return {
      env: { UNITY_BROKER_TOKENS_FILE: tokens },
      check: "tokens",
      says: /my tokens\.json is not a token file/,
    };
  },
  async "a token that everybody can read"() {
    await type(["token", "local"]);
    chmodSync(join(here().dataDir, "local.token"), 0o644);
    return { check: "tokens", says: /can be read by other users/ };
  },
  async "a Redis that is away"() {
    const url = `redis://127.0.0.1:${await freePort()}`;
    return { env: { REDIS_URL: url }, check: "Redis", says: /Tried Redis at 127\.0\.0\.1/ };
  },
  async "a Redis that evicts"() {
    const { hand, url } = await ownRedis();
    await hand.config("SET", "maxmemory-policy", "allkeys-lru");
    return { env: { REDIS_URL: url }, check: "Redis", says: /evicts data/ };
  },
  async "a Redis that forgets"() {
    const { hand, url } = await ownRedis();
    await hand.config("SET", "appendonly", "no");
    return { env: { REDIS_URL: url }, check: "Redis", state: "warning", says: /no AOF/ };
  },
  async "another program on the gateway's port"() {
    const { port, server } = await listen();
    closeLater(() => new Promise((resolve) => server.close(resolve)));
    return { env: { UNITY_BROKER_PORT: String(port) }, check: "gateway", says: /another program answers/ };
  },
  async "a token that the gateway does not know"() {
    const gateway = start("gateway", ["gateway", "--port", "0"]);
    const [, url = ""] = await gateway.line(/^MCP endpoint: (.*)$/);
    return {
      env: { UNITY_BROKER_URL: url, UNITY_BROKER_TOKEN: "ujb_old" },
      check: "gateway",
      says: /does not know the token/,
    };
  },
  async "a gateway that is not there"() {
    const url = `http://127.0.0.1:${await freePort()}/mcp`;
    return { env: { UNITY_BROKER_URL: url }, check: "gateway", says: /nobody answers/ };
  },
  async "a gateway's address without its path"() {
    const gateway = start("gateway", ["gateway", "--port", "0", "--insecure-local"]);
    const [, url = ""] = await gateway.line(/^MCP endpoint: (.*)\/mcp$/);
    return { env: { UNITY_BROKER_URL: url }, check: "gateway", says: /did not answer/ };
  },
  async "a gateway that asks for a token where none is set"() {
    const gateway = start("gateway", ["gateway", "--port", "0"]);
    const [, url = ""] = await gateway.line(/^MCP endpoint: (.*)$/);
    return { env: { UNITY_BROKER_URL: url }, check: "gateway", says: /asks for a token/ };
  },
  async "a gateway's address without http"() {
    return {
      env: { UNITY_BROKER_URL: "127.0.0.1:8787" },
      check: "configuration",
      says: /UNITY_BROKER_URL: expected an address such as http/,
    };
  },
  async "a gateway's address where somebody keeps silent"() {
    const server = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    closeLater(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as { port: number };
    return {
      env: { UNITY_BROKER_URL: `http://127.0.0.1:${port}/mcp` },
      check: "gateway",
      says: /nobody answers/,
    };
  },
  async "the endpoint file of an Editor that ended"() {
    const folder = join(here().folder, "editors");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "gone@1.json"), JSON.stringify({ editorId: "gone@1", pid: 2 ** 22 }));
    return { check: "endpoint file", state: "warning", says: /gone@1\.json is of an Editor that ended/ };
  },
};

describe("what can be copied from a screen", () => {
  test.each([
    ["127.0.0.1", "http://127.0.0.1:8787"],
    ["::1", "http://[::1]:8787"],
    ["0.0.0.0", "http://127.0.0.1:8787"],
    ["::", "http://[::1]:8787"],
    ["studio.lan", "http://studio.lan:8787"],
  ])("a gateway that listens on %s is found at %s", (host, origin) => {
    expect(gatewayOriginOf(host, 8787)).toBe(origin);
  });

  test("the command of a checkout is one word for the shell, wherever that lies", () => {
    const { argv } = process;
    const at = (script: string): string => {
      process.argv = ["node", script];
      return selfCommand();
    };
    const plain = at("/src/broker/dist/cli/main.js");
    const spaced = at("/My Games/broker/dist/cli/main.js");
    process.argv = argv;
    expect([plain, spaced]).toEqual([
      "node /src/broker/dist/cli/main.js",
      'node "/My Games/broker/dist/cli/main.js"',
    ]);
  });

  test("a file's name is one word for the shell, whatever is in it", () => {
    const file = "/home/o'neil/my tokens.json";
    const echoed = spawnSync("/bin/sh", ["-c", `printf %s ${shellQuoted(file)}`], { encoding: "utf8" });
    expect(echoed.stdout).toBe(file);
  });
});

describe("the doctor names what is broken, and its fix works", () => {
  const TELLING = [
    "a data directory that is a file",
    "a Redis that is away",
    "a Redis that evicts",
    "another program on the gateway's port",
    "a token that the gateway does not know",
    "the endpoint file of an Editor that ended",
  ];
  test.each(played(BROKEN, TELLING))("%s", async (_title, breaks) => {
    const { env = {}, check, says, state = "problem" } = await breaks();
    const { code, findings } = await examine(env);
    const found = findings.find((one) => one.check === check && one.state !== "ok");
    expect(found, JSON.stringify(findings)).toMatchObject({ state, says: expect.stringMatching(says) });
    const cli = "REDIS_URL" in env ? await withRedisCli(env) : env;
    const after = await fixed(found?.fix ?? "false", cli);
    expect(after.filter((one) => one.check === check && one.state !== "ok")).toEqual([]);
    expect(code).toBe(findings.some((one) => one.state === "problem") ? 1 : 0);
  });

  test("no finding shows the password of REDIS_URL, and the fix works all the same", async () => {
    const { hand, url } = await ownRedis();
    await hand.config("SET", "appendonly", "no", "requirepass", "s3cret@tail");
    const REDIS_URL = url.replace("//", "//:s3cret%40tail@");
    const said = await examine({ REDIS_URL });
    const found = said.findings.find(({ check }) => check === "Redis");
    expect(found).toMatchObject({ state: "warning", fix: expect.stringContaining("--askpass") });
    const after = await fixed(found?.fix ?? "false", await withRedisCli({ REDIS_URL }), "s3cret@tail\n");
    const raw = await examine({ REDIS_URL: url.replace("//", "//:s3cret@tail@") });
    await hand.config("SET", "requirepass", "");
    expect(after.find(({ check }) => check === "Redis")).toMatchObject({
      state: "ok",
      says: expect.stringMatching(`^${url} \\((Redis|Valkey) .*, AOF always\\)$`),
    });
    expect(JSON.stringify([said, after, raw])).not.toMatch(/s3cret|tail@/);
    const broken = await type(["doctor"], { REDIS_URL: "redis://:s3cret/tail@127.0.0.1:6379" });
    expect(broken.stdout + broken.stderr).toMatch(/REDIS_URL: it is not a URL such as/);
    expect(broken.stdout + broken.stderr).not.toMatch(/s3cret|tail@/);
  });

  test("a data directory of the system's choice that cannot be made is not fixed by a variable", async () => {
    const { findings } = await examine({ UNITY_BROKER_DATA_DIR: "", XDG_DATA_HOME: "/dev/null/x" });
    const found = findings.find(({ check }) => check === "data");
    expect(found).toMatchObject({
      state: "problem",
      next: expect.stringMatching(/set UNITY_BROKER_DATA_DIR/),
    });
    expect(found?.fix).toBeUndefined();
  });

  test("a gateway without an Editor is not well, and one that does not know this user's token is told so", async () => {
    const token = (await type(["token", "create", "ann"])).stdout.trim();
    await type(["token", "local"]);
    const gateway = start("gateway", ["gateway", "--port", "0", "--host", "0.0.0.0"]);
    const [, port = ""] = await gateway.line(/^MCP endpoint: .*:(\d+)\/mcp$/);
    const UNITY_BROKER_URL = `http://127.0.0.1:${port}/mcp`;
    const { code, findings } = await examine({ UNITY_BROKER_URL, UNITY_BROKER_TOKEN: token });
    expect(findings.at(-1)).toMatchObject({
      check: "Editor",
      state: "problem",
      says: "the gateway knows no Editor that is connected",
    });
    expect(code).toBe(1);
    const wrong = (await examine({ UNITY_BROKER_URL, UNITY_BROKER_TOKEN: "ujb_old" })).findings.at(-1);
    expect(wrong).toMatchObject({ check: "gateway", next: expect.stringMatching(/^Ask its owner/) });
    expect(wrong?.fix).toBeUndefined();
  });

  test("this user's own token is sent to no other machine", async () => {
    const own = (await type(["token", "local"])).stdout.trim();
    const sent: (string | undefined)[] = [];
    const elsewhere = createHttpServer((request, response) => {
      sent.push(request.headers.authorization);
      response.writeHead(request.url === "/healthz" ? 200 : 401).end('{"status":"ok"}');
    }).listen(0, "0.0.0.0");
    await new Promise((resolve) => elsewhere.once("listening", resolve));
    closeLater(async () => void elsewhere.close().closeAllConnections());
    const { port } = elsewhere.address() as { port: number };
    const { findings } = await examine({ UNITY_BROKER_URL: `http://0.0.0.0:${port}/mcp` });
    expect(findings.at(-1)).toMatchObject({
      check: "gateway",
      says: expect.stringMatching(/asks for a token/),
    });
    expect(own).toMatch(/^ujb_/);
    expect(sent).toEqual([undefined, undefined]);
  });

  test("nobody at an IPv6 address is nobody, not another program", async () => {
    const { findings } = await examine({
      UNITY_BROKER_HOST: "::1",
      UNITY_BROKER_PORT: String(await freePort()),
    });
    const gateway = findings.find(({ check }) => check === "gateway");
    expect(gateway).toMatchObject({ state: "ok", says: expect.stringMatching(/^none at http:\/\/\[::1\]:/) });
  });

  test("no Editor: the simulated one that it proposes makes all well", async () => {
    // Somebody else's gateway may have the usual one.
    const port = { UNITY_BROKER_PORT: String(await freePort()) };
    const { code, findings } = await examine(port);
    expect(code).toBe(1);
    const last = findings.at(-1);
    expect(last).toMatchObject({
      check: "Editor",
      state: "problem",
      fix: expect.stringMatching(/ simulate$/),
    });
    const args = last?.fix?.split(" ").slice(2) ?? [];
    await start("fix", [...args, "--port", "0"]).line(/^Simulated Unity Editor/);
    const well = await type(["doctor"], port);
    expect(well.stdout).toMatch(
      /✓ tools +\d+ of the Editors\n✓ test call +\S+ answered ping in \d+ ms\n\nAll is well\.\n$/,
    );
    expect(well.code).toBe(0);
  });

  test("a named folder that is no Unity project, or in which no uLoop bridge has written its port", async () => {
    await simulate();
    const project = join(here().folder, "Named");
    mkdirSync(join(project, "ProjectSettings"), { recursive: true });
    writeFileSync(join(project, "ProjectSettings", "ProjectVersion.txt"), "m_EditorVersion: 6000.0.26f1\n");
    const { code, findings } = await examine({
      UNITY_BROKER_EDITORS: `/nowhere,${here().folder},${project}`,
    });
    expect(code).toBe(1);
    expect(findings.filter(({ state }) => state === "problem")).toEqual([
      expect.objectContaining({
        says: expect.stringMatching(/^UNITY_BROKER_EDITORS names \/nowhere: .*no such file/),
      }),
      expect.objectContaining({ says: expect.stringMatching(/: this is no Unity project$/) }),
      expect.objectContaining({
        says: expect.stringMatching(/Named: its uLoop bridge has not recorded its port/),
      }),
    ]);
  });

  test("an Editor that lives without its bridge: what to look at, and well once the bridge listens", async () => {
    await simulate();
    const folder = join(here().folder, "editors");
    await until("its endpoint file is there", () => readdirSync(folder).length === 1);
    const file = join(folder, readdirSync(folder)[0] ?? "");
    const endpoint = JSON.parse(readFileSync(file, "utf8")) as { port: number };
    writeFileSync(file, JSON.stringify({ ...endpoint, port: await freePort() }));
    const { code, findings } = await examine();
    expect(code).toBe(1);
    expect(findings.at(-1)).toMatchObject({
      check: "Editor",
      state: "problem",
      says: expect.stringMatching(/its bridge has not listened/),
      next: expect.stringMatching(/Unity window.*compile errors/),
    });
    writeFileSync(file, JSON.stringify(endpoint));
    expect((await examine()).code).toBe(0);
  });

  test("another project on the Editor's port is named", async () => {
    await simulate("Shop");
    await simulate("Game");
    const folder = join(here().folder, "editors");
    await until("both are there", () => readdirSync(folder).length === 2);
    const [game = "", shop = ""] = readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
    const right = readFileSync(shop, "utf8");
    const { port, token } = JSON.parse(readFileSync(game, "utf8")) as { port: number; token: string };
    writeFileSync(shop, JSON.stringify({ ...JSON.parse(right), port, token }));
    const { findings } = await examine();
    expect(findings.find(({ state }) => state === "problem")?.says).toMatch(
      /^shop@\w+: Another project answers/i,
    );
    writeFileSync(shop, right);
    expect((await examine()).code).toBe(0);
  });
});
