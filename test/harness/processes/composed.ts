/** What docker-compose.yml describes, as processes of this machine: its own commands, with this machine's programs, folders and ports. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import { withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { createTokens } from "../../../src/gateway/auth/tokens.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { createCounterFile } from "../../../src/simulator/ledger/counter-file.js";
import { answerIn } from "../mcp/answer-in.js";
import { compose } from "../redis/compose-file.js";
import { redisHere } from "../redis/redis.js";
import { environment } from "./installation.js";
import { createProcesses, type Processes, type RunningProcess } from "./processes.js";

export interface Composed {
  folder: string;
  processes: Processes;
  env: NodeJS.ProcessEnv;
  redis: { port: number; password: string };
  /** Of its one principal. */
  headers: Record<string, string>;
  /** A simulated Editor on the machine of the worker; `executions`: by its own account. */
  editor(name: string): Promise<{ editorId: string; executions(): { operationId: string; what: string }[] }>;
  worker(): Promise<void>;
  /** Resolves when it serves; `port` 0: a free one. */
  gateway(port?: number): Promise<{ port: number; process: RunningProcess }>;
}

/** A test's own; it is ended with the test. */
export async function startComposed(): Promise<Composed> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-compose-"));
  const processes = createProcesses();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const password = "0123456789abcdefOfATest";
  const passwordFile = join(folder, "redis-password");
  writeFileSync(passwordFile, `${password}\n`);
  const port = await startRedis(processes, folder, passwordFile);
  onTestFinished(async () => void (await processes.close()));
  const { gateway, worker } = compose().services;
  const tokensFile = join(folder, "tokens.json");
  const token = await createTokens(tokensFile).create("farm", { role: "operate" });
  const env = {
    ...environment(folder),
    REDIS_URL: gateway.environment.REDIS_URL?.replace("redis:6379", `127.0.0.1:${port}`),
    REDIS_PASSWORD_FILE: passwordFile,
    UNITY_BROKER_HOST: gateway.environment.UNITY_BROKER_HOST,
    UNITY_BROKER_TOKENS_FILE: tokensFile,
  };
  return {
    ...{ folder, processes, env, redis: { port, password } },
    headers: { authorization: `Bearer ${token}` },
    async editor(name) {
      const counter = createCounterFile(join(folder, `${name}.counter`));
      const files = ["--counter-file", counter.file, "--ledger-folder", join(folder, `${name}.ledger`)];
      const args = ["simulate", "--port", "0", "--project", join(folder, name), ...files];
      const [, editorId = ""] = await processes
        .start(name, args, env)
        .line(/^Simulated Unity Editor (\S+) on port/);
      return { editorId, executions: counter.lines };
    },
    async worker() {
      await processes.start("worker", worker.command, env).line(/^Worker for/);
    },
    async gateway(wanted = 0) {
      const started = processes.start("gateway", [...gateway.command, "--port", `${wanted}`], env);
      const [, served = ""] = await started.line(/^MCP endpoint: .*:(\d+)\/mcp$/);
      return { port: Number(served), process: started };
    },
  };
}

/** The compose file's own Redis command. */
async function startRedis(processes: Processes, folder: string, passwordFile: string): Promise<number> {
  const binary = await redisHere();
  const port = await freePort();
  const script = (compose().services.redis.command.at(-1) ?? "")
    .replaceAll("$$", "$")
    .replaceAll("/tmp/redis.conf", join(folder, "redis.conf"))
    .replaceAll("/run/secrets/redis_password", passwordFile)
    .replace("/data", folder)
    .replace("exec redis-server", `exec ${binary.file}`);
  serve("/bin/sh", ["-c", `${script} --port ${port} --bind 127.0.0.1`], {
    processes,
    env: withLibraries(process.env, binary.libraryPath),
  });
  return port;
}

/** A program that is no command of ours, until the test has finished. */
export function serve(
  file: string,
  args: string[],
  { processes, env, cwd }: { processes: Processes; env: NodeJS.ProcessEnv; cwd?: string },
): void {
  const server = spawn(file, args, { stdio: "ignore", env, ...(cwd === undefined ? {} : { cwd }) });
  processes.guard(server.pid ?? 0);
  onTestFinished(async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGTERM");
    await gone;
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** An MCP client of the official SDK. `limitMs`: its own for each call. */
export async function mcpClient(
  url: string,
  headers: Record<string, string>,
  limitMs = 60_000,
): Promise<{ call(name: string, args: object): Promise<Answer> }> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return {
    async call(name, args) {
      const call = { name, arguments: { ...args } };
      return answerIn<Answer>(await client.callTool(call, undefined, { timeout: limitMs }));
    },
  };
}
