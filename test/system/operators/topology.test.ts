/** docker-compose.yml's topology as processes: Redis with a password, a gateway, a worker, and three Editors. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { findRedisBinary } from "../../../src/embedded-redis/package/binary.js";
import { withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { createTokens } from "../../../src/gateway/auth/tokens.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { environment } from "../../harness/processes/installation.js";
import { createProcesses, type Processes, until } from "../../harness/processes/processes.js";
import { compose } from "../../harness/redis/compose-file.js";

const PASSWORD = "0123456789abcdefOfATest";

/** The compose file's own Redis command, with this machine's program, folder and port. */
async function startRedis(processes: Processes, folder: string): Promise<number> {
  const { cacheDir } = defaultDirectories(process.env);
  const binary = await findRedisBinary({ cacheDir, env: process.env, say: console.log });
  const port = await freePort();
  const script = (compose().services.redis.command.at(-1) ?? "")
    .replaceAll("$$", "$")
    .replaceAll("/tmp/redis.conf", join(folder, "redis.conf"))
    .replaceAll("/run/secrets/redis_password", passwordFile(folder))
    .replace("/data", folder)
    .replace("exec redis-server", `exec ${binary.file}`);
  const server = spawn("/bin/sh", ["-c", `${script} --port ${port} --bind 127.0.0.1`], {
    stdio: "ignore",
    env: { ...withLibraries(process.env, binary.libraryPath) },
  });
  processes.guard(server.pid ?? 0);
  onTestFinished(async () => {
    if (server.exitCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGTERM");
    await gone;
  });
  return port;
}

const passwordFile = (folder: string): string => join(folder, "redis-password");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function mcpClient(
  url: string,
  headers: Record<string, string>,
): Promise<{ call(name: string, args: object): Promise<Answer> }> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return {
    async call(name, args) {
      const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
      return structuredContent as Answer;
    },
  };
}

test("every call runs on the Editor that was named, none is guessed, all of it is counted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ujb-compose-"));
  const processes = createProcesses();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(passwordFile(folder), `${PASSWORD}\n`);
  const port = await startRedis(processes, folder);
  onTestFinished(async () => void (await processes.close()));
  const { gateway: gatewayService, worker: workerService } = compose().services;
  const redisUrl = gatewayService.environment.REDIS_URL?.replace("redis:6379", `127.0.0.1:${port}`);
  expect(redisUrl).toBe(`redis://127.0.0.1:${port}`);
  const tokensFile = join(folder, "tokens.json");
  const headers = {
    authorization: `Bearer ${await createTokens(tokensFile).create("farm", { role: "operate" })}`,
  };
  const env = {
    ...environment(folder),
    REDIS_URL: redisUrl,
    REDIS_PASSWORD_FILE: passwordFile(folder),
    UNITY_BROKER_HOST: gatewayService.environment.UNITY_BROKER_HOST,
    UNITY_BROKER_TOKENS_FILE: tokensFile,
  };

  const stranger = new Redis({ port, maxRetriesPerRequest: 1, retryStrategy: () => 50 });
  stranger.on("error", () => undefined);
  onTestFinished(() => stranger.disconnect());
  const owner = new Redis({ port, password: PASSWORD, retryStrategy: () => 50 });
  owner.on("error", () => undefined);
  onTestFinished(() => owner.disconnect());
  await until("Redis serves, but not without its password", () =>
    stranger.ping().then(
      () => false,
      (error: Error) => /NOAUTH/.test(error.message),
    ),
  );
  expect(await owner.config("GET", "maxmemory-policy")).toContain("noeviction");
  expect(await owner.config("GET", "appendonly")).toContain("yes");

  const editors = await Promise.all(
    ["Red", "Green", "Blue"].map(async (name) => {
      const counterFile = join(folder, `${name}.counter`);
      const project = join(folder, name);
      const files = ["--counter-file", counterFile, "--ledger-folder", join(folder, `${name}.ledger`)];
      const started = processes.start(name, ["simulate", "--port", "0", "--project", project, ...files], env);
      const [, editorId = ""] = await started.line(/^Simulated Unity Editor (\S+) on port/);
      return { name, editorId, executed: () => executedIn(counterFile) };
    }),
  );
  const worker = processes.start("worker", workerService.command, env);
  await worker.line(/^Worker for/);
  const gateway = processes.start("gateway", [...gatewayService.command, "--port", "0"], env);
  const [, gatewayPort = ""] = await gateway.line(/^MCP endpoint: .*:(\d+)\/mcp$/);
  const url = `http://127.0.0.1:${gatewayPort}/mcp`;
  expect((await fetch(new URL("/metrics", url))).status).toBe(401);
  const metric = async (series: string): Promise<number> => {
    const text = await (await fetch(new URL("/metrics", url), { headers })).text();
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length + 1),
    );
  };
  await until("the gateway is ready", async () => (await fetch(new URL("/readyz", url))).ok);
  await until(
    "all three Editors are connected",
    async () => (await metric('unity_broker_editors{connected="yes",phase="ready"}')) === 3,
  );

  const clients = await Promise.all([1, 2, 3, 4].map(() => mcpClient(url, headers)));
  // Each client goes round the Editors, each beginning with another one: calls of all for all are under way at once.
  const asked: { editorId: string; logId: string }[] = [];
  const items = ["Assets/Refresh", "File/Save Project", "GameObject/Create Empty"];
  await Promise.all(
    clients.map(async (client, number) => {
      const round = items.flatMap((item, at) =>
        editors.map((_, turn) => ({ item, turn: turn + at + number })),
      );
      const answers = round.map(async ({ item, turn }) => {
        const editorId = editors[turn % editors.length]?.editorId ?? "";
        const MenuItemPath = item;
        const key = `${number} ${item} ${editorId}`;
        const answer = await client.call("execute-menu-item", {
          MenuItemPath,
          editor: editorId,
          idempotency_key: key,
          timeout: 50,
        });
        expect(answer).toMatchObject({ status: "completed", editor: editorId });
        asked.push({ editorId, logId: answer.log_id ?? "" });
      });
      await Promise.all(answers);
    }),
  );
  const refused = await Promise.all(
    clients.map((client) => client.call("execute-menu-item", { MenuItemPath: "Edit/Clear All PlayerPrefs" })),
  );
  for (const answer of refused)
    expect(answer).toMatchObject({ status: "error", error_code: "EDITOR_AMBIGUOUS" });

  expect(asked).toHaveLength(36);
  for (const { editorId, executed } of editors) {
    const named = asked.filter((one) => one.editorId === editorId).map(({ logId }) => logId);
    expect(named).toHaveLength(12);
    expect(executed().sort()).toEqual(named.sort());
  }
  expect(await metric('unity_broker_operations_ended_total{state="completed",effect="mutating"}')).toBe(36);
  expect(await metric('unity_broker_operations_open{state="running"}')).toBe(0);
  expect(await metric("unity_broker_execution_seconds_count")).toBe(36);
  const { queues } = (await (await fetch(new URL("/dashboard/api/queues", url), { headers })).json()) as {
    queues: { name: string; counts: { completed: number } }[];
  };
  for (const { editorId } of editors) {
    expect(queues.find(({ name }) => name === `${editorId}.main`)?.counts.completed).toBe(12);
  }

  expect(await processes.close()).toEqual([]);
});

/** The operation ids of the Editor's own account. */
function executedIn(counterFile: string): string[] {
  return readFileSync(counterFile, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" ")[0] ?? "");
}
