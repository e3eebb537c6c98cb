/** One broker in the background for all clients of a user: who starts it, what it survives, and when it ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { brokerFolder, readEndpoint } from "../../../src/cli/pipe/broker-place.js";
import { controlBroker } from "../../../src/cli/pipe/control-client.js";
import { connect } from "../../../src/cli/pipe/reach-broker.js";
import { identify } from "../../../src/shared/machine/living-process.js";
import type { PipeControl } from "../../../src/shared/pipe-frames.js";
import { isLongForm } from "../../harness/long-form.js";
import { INITIALIZE, type RpcAnswer, toolCall } from "../../harness/mcp/mcp.js";
import { brokerStatus, runningBrokers } from "../../harness/processes/brokers.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { openStdioClient, type StdioClient } from "../../harness/processes/process-clients.js";
import { toolsAreKnown } from "../../harness/processes/process-world.js";
import { MAIN, type RunningProcess, until } from "../../harness/processes/processes.js";

const { start, type, here, closeLater } = useCommandLine();

const background = (more: Record<string, string> = {}) => ({ ...here().env, ...more });
const pipe = async (name = "mcp", more: Record<string, string> = {}): Promise<StdioClient> =>
  openStdioClient(start(name, ["mcp"], more));
const command = (args: string[], more: Record<string, string> = {}) => type(args, more);

const counterFile = (): string => join(here().folder, "executions.log");
const executions = (): number => readFileSync(counterFile(), "utf8").split("\n").filter(Boolean).length;

async function simulate(...more: string[]): Promise<RunningProcess> {
  const args = ["simulate", "--port", "0", "--ledger-folder", join(here().folder, "ledger")];
  const editor = start("editor", [...args, "--counter-file", counterFile(), ...more]);
  await editor.line(/^Simulated Unity Editor/);
  return editor;
}

const item = (seconds: number) => ({
  MenuItemPath: `Simulator/Block For ${seconds} Seconds`,
});

async function runs(client: StdioClient): Promise<string> {
  return until("it runs", async () => {
    const { operations } = (await client.call("list_operations", {})) as unknown as {
      operations: { state: string; log_id: string }[];
    };
    return operations[0]?.state === "running" && operations[0].log_id;
  });
}

const broker = (): number => {
  const pids = runningBrokers(here().env);
  expect(pids).toHaveLength(1);
  return pids[0] as number;
};
const isGone = (pid: number) => until(`process ${pid} is gone`, () => identify(pid) === undefined);
const killed = async (pid: number): Promise<void> => {
  process.kill(pid, "SIGKILL");
  await isGone(pid);
};

describe("the first of many clients", () => {
  test("starts the broker: of twenty at once, one does", async () => {
    for (let round = 0; round < (isLongForm ? 50 : 1); round += 1) {
      const clients = await Promise.all(Array.from({ length: 20 }, (_, at) => pipe(`mcp ${at}`)));
      const pid = broker();
      const { sessions } = await brokerStatus(here().env);
      expect(sessions.map((session) => session.pid).sort()).toEqual(
        clients.map((client) => client.process.pid).sort(),
      );
      await Promise.all(clients.map((client) => client.close()));
      expect((await command(["down"])).stdout).toContain("The broker has ended.");
      await isGone(pid);
    }
  });

  test("and brokers that are started by themselves at once leave one", async () => {
    const started = Array.from({ length: 5 }, (_, at) => start(`broker ${at}`, ["broker"]));
    // Those that lost end in order.
    await until("one is left", () => here().processes.running().length === 1);
    const pid = broker();
    expect(started.map((each) => each.pid)).toContain(pid);
    expect((await command(["down"])).code).toBe(0);
    await Promise.all(started.map((each) => each.ended));
  });

  // The system tells there which process is whose child.
  test.skipIf(process.platform !== "linux")("starts it again if it is killed while it starts", async () => {
    const first = start("mcp", ["mcp"]);
    const children = `/proc/${first.pid}/task/${first.pid}/children`;
    const child = Number(await until("it is started", () => /\d+/.exec(readFileSync(children, "utf8"))?.[0]));
    expect(child).toBeGreaterThan(1);
    process.kill(child, "SIGKILL");
    const client = await openStdioClient(first);
    expect(broker()).not.toBe(child);
    await client.close();
  });

  test("another configuration has another broker", async () => {
    const one = await pipe("mcp one");
    const other = await pipe("mcp other", { UNITY_BROKER_MAX_RUNNING: "3" });
    expect(runningBrokers(here().env)).toHaveLength(2);
    await Promise.all([one.close(), other.close()]);
    expect((await command(["down"])).stdout).toContain("2 brokers have ended.");
  });
});

describe("a client that goes", () => {
  test.each(["its input ends", "SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])(
    "leaves the broker, and what it asked for goes on: %s",
    async (how) => {
      await simulate();
      const client = await pipe();
      await toolsAreKnown(client);
      const pid = broker();
      client.ask("execute-menu-item", { ...item(1), timeout: 0 });
      const logId = await runs(client);
      if (how === "its input ends") {
        client.process.endInput();
        expect(await client.process.ended).toEqual({ code: 0, signal: null });
      } else {
        const { code } = await client.process.kill(how as NodeJS.Signals);
        expect(code).toBe(how === "SIGKILL" ? null : 0);
      }
      expect(broker()).toBe(pid);
      await until("its session is over", async () => (await brokerStatus(here().env)).sessions.length === 0);
      const result = await command(["result", logId, "--follow", "--json"]);
      expect(JSON.parse(result.stdout)).toMatchObject({ state: "completed" });
      expect(executions()).toBe(1);
    },
  );

  test("by a signal has its open wait answered", async () => {
    await simulate();
    const client = await pipe();
    await toolsAreKnown(client);
    const waiting = client.ask("execute-menu-item", { ...item(1), timeout: 40 });
    await runs(client);
    const ended = client.process.kill("SIGTERM");
    expect(await waiting.answer).toMatchObject({ status: "timeout", log_id: expect.any(String) });
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  test("and does not read any more leaves nobody behind", async () => {
    const server = spawn(process.execPath, [MAIN, "mcp"], {
      env: background(),
      stdio: ["pipe", "pipe", "ignore"],
    });
    here().processes.guard(server.pid ?? 0);
    server.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await once(server.stdout, "data");
    const ended = once(server, "exit");
    server.stdout.destroy();
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`);
    expect(await ended).toEqual([0, null]);
    await until("its session is over", async () => (await brokerStatus(here().env)).sessions.length === 0);
  });

  test("with a plain bridge's operation under way loses nothing: another client reads its result", async () => {
    const editor = start("plain editor", [
      "simulate",
      "--port",
      "0",
      "--plain",
      "--counter-file",
      counterFile(),
    ]);
    const [, port = ""] = await editor.line(/on port (\d+)/);
    const more = { UNITY_BROKER_EDITORS: `plain=127.0.0.1:${port}` };
    const client = await pipe("mcp", more);
    await toolsAreKnown(client);
    client.ask("execute-menu-item", { ...item(isLongForm ? 35 : 2), timeout: 0 });
    const logId = await runs(client);
    await client.process.kill("SIGKILL");
    const result = await command(["result", logId, "--follow", "--json"], more);
    expect(JSON.parse(result.stdout)).toMatchObject({ state: "completed" });
    expect(executions()).toBe(1);
  });
});

describe("a broker that is killed", () => {
  test("is started again, and the open call is answered: executed once", async () => {
    await simulate();
    const [client, other] = [await pipe("mcp one"), await pipe("mcp two")];
    await toolsAreKnown(client);
    const waiting = client.ask("execute-menu-item", { ...item(1), timeout: 40 });
    await runs(other);
    const pid = broker();
    await killed(pid);
    expect(await waiting.answer).toMatchObject({ status: "completed" });
    expect(broker()).not.toBe(pid);
    expect(await other.call("get-hierarchy", { timeout: 20 })).toMatchObject({ status: "completed" });
    expect(executions()).toBe(1);
    await Promise.all([client.close(), other.close()]);
  });

  test("keeps the session: its chosen Editor, and the greeting", async () => {
    await simulate("--project", join(here().folder, "One"));
    const client = await pipe();
    await toolsAreKnown(client);
    const { editors } = (await client.call("list_editors", {})) as unknown as { editors: { id: string }[] };
    expect(await client.call("select_editor", { editor: editors[0]?.id })).toMatchObject({
      status: "completed",
    });
    await simulate(
      "--project",
      join(here().folder, "Two"),
      "--ledger-folder",
      join(here().folder, "ledger 2"),
    );
    await until("both are there", async () => {
      const { editors: now } = (await client.call("list_editors", {})) as unknown as { editors: object[] };
      return now.length === 2;
    });
    await killed(broker());
    // Without the choice it would be ambiguous.
    const answer = await client.call("execute-menu-item", { ...item(0), timeout: 20 });
    expect(answer).toMatchObject({ status: "completed", editor: editors[0]?.id });
    await client.close();
  });

  test("its quick answer was read, also for the session that goes on with another broker", async () => {
    await simulate();
    const client = await pipe();
    await toolsAreKnown(client);
    const args = { ...item(0), timeout: 20 };
    const first = await client.call("execute-menu-item", args);
    expect(first).not.toHaveProperty("deduplicated");
    // The same broker: a new call.
    const second = await client.call("execute-menu-item", args);
    expect(second).not.toHaveProperty("deduplicated");
    await until("its delivery is stored", async () =>
      (await command(["explain", String(second.log_id)])).stdout.includes("delivered"),
    );
    await killed(broker());
    const third = await client.call("execute-menu-item", args);
    expect(third).not.toHaveProperty("deduplicated");
    expect(third.log_id).not.toBe(second.log_id);
    await client.close();
  });
});

describe("a broker that ends in order", () => {
  test("by `down` is started again by the next message", async () => {
    const client = await pipe();
    const pid = broker();
    expect((await command(["down"])).code).toBe(0);
    await isGone(pid);
    expect(runningBrokers(here().env)).toEqual([]);
    expect(await client.call("list_editors", {})).toMatchObject({ status: "completed" });
    expect(broker()).not.toBe(pid);
    await client.close();
  });

  test("for having been idle takes its Redis with it, and stays for what is under way", async () => {
    await simulate();
    const idle = { UNITY_BROKER_REDIS_IDLE_MINUTES: "0.01" };
    const called = await command(
      ["call", "execute-menu-item", "--args", JSON.stringify(item(2)), "--timeout", "0"],
      idle,
    );
    expect(called.code).toBe(3);
    const pid = broker();
    const redis = JSON.parse(readFileSync(join(here().dataDir, "redis", "endpoint.json"), "utf8")) as {
      pid: number;
    };
    // The idle time is over long before the operation is.
    await until("it ran", () => executions() === 1);
    expect(identify(pid)).toBeDefined();
    await isGone(pid);
    expect(identify(redis.pid)).toBeUndefined();
    const [, logId = ""] = /log_id (\S+)/.exec(called.stdout) ?? [];
    const result = await command(["result", logId, "--json"], idle);
    expect(JSON.parse(result.stdout)).toMatchObject({ state: "completed" });
  });

  test("gives its place to `up`, whose clients come over, and takes it again", async () => {
    const client = await pipe();
    const pid = broker();
    const up = start("up", ["up", "--port", "0", "--simulate"]);
    await up.line(/^MCP endpoint/);
    await isGone(pid);
    expect(broker()).toBe(up.pid);
    await until("the client came over", async () => (await brokerStatus(here().env)).sessions.length === 1);
    await toolsAreKnown(client);
    expect(await client.call("run-tests", { timeout: 40 })).toMatchObject({ status: "completed" });
    // Another terminal has HTTP alone.
    const second = start("second up", ["up", "--port", "0"]);
    await second.line(/^MCP endpoint/);
    expect(broker()).toBe(up.pid);
    expect(await second.kill("SIGINT")).toEqual({ code: 0, signal: null });
    expect(await up.kill("SIGINT")).toEqual({ code: 0, signal: null });
    expect(await client.call("list_operations", {})).toMatchObject({ status: "completed" });
    expect(broker()).not.toBe(up.pid);
    await client.close();
  });
});

/** The built command line, as if it were another release. */
function release(version: string): string {
  const folder = join(here().folder, version);
  const project = fileURLToPath(new URL("../../..", import.meta.url));
  cpSync(join(project, "dist"), join(folder, "dist"), { recursive: true });
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  const own = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as object;
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...own, version }));
  return join(folder, "dist/cli/main.js");
}

describe("a newer version", () => {
  test("takes the place of an older one under load: nothing is lost, and nothing runs twice", async () => {
    await simulate();
    const older = [await pipe("mcp one"), await pipe("mcp two")] as const;
    await toolsAreKnown(older[0]);
    const before = broker();
    const main = release("99.0.0");
    const waiting = older[0].ask("execute-menu-item", { ...item(1), timeout: 40 });
    await runs(older[1]);
    const queued = older[1].ask("execute-menu-item", { MenuItemPath: "Assets/Refresh", timeout: 40 });
    const upgraded = spawn(process.execPath, [main, "list"], { env: background(), stdio: "ignore" });
    expect(await once(upgraded, "exit")).toEqual([0, null]);
    await isGone(before);
    expect(await waiting.answer).toMatchObject({ status: "completed" });
    expect(await queued.answer).toMatchObject({ status: "completed" });
    expect(executions()).toBe(2);
    expect((await brokerStatus(here().env)).version).toBe("99.0.0");
    // An older client is served by the newer broker, and starts nothing beside it.
    const late = await pipe("mcp three");
    expect(await late.call("get-hierarchy", { timeout: 20 })).toMatchObject({ status: "completed" });
    expect(runningBrokers(here().env)).toHaveLength(1);
    await Promise.all([...older, late].map((client) => client.close()));
  });
});

test.each([[[]], [["--in-process"]]])(
  "a message that is too long to be read is answered, and the client goes on: %j",
  async (how: string[]) => {
    const client = await openStdioClient(start("mcp", ["mcp", ...how]));
    const long = client.call("execute-menu-item", { MenuItemPath: "x".repeat(12_000_000) });
    await expect(long).rejects.toThrow("The message is longer than 10485760 characters, and was not read.");
    expect(await client.call("list_operations", {})).toMatchObject({ operations: [] });
    await client.close();
  },
);

test("a broker that is to hand over while it starts refuses nothing, and one that is asked for what it does not know stays", async () => {
  await simulate();
  const client = start("mcp", ["mcp"]);
  const answers: RpcAnswer[] = [];
  client.onLine((line) => void answers.push(JSON.parse(line) as RpcAnswer));
  const call = toolCall(1, "execute-menu-item", { ...item(0), timeout: 40 });
  for (const message of [INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" }, call])
    client.write(`${JSON.stringify(message)}\n`);
  const folder = brokerFolder(here().env);
  const ask = async (what: PipeControl["ask"]) => {
    const endpoint = await until("it listens", () => readEndpoint(folder));
    const socket = await until("it accepts", () => connect(endpoint));
    return controlBroker(socket, what, "0.0.0");
  };
  const { pid, complies } = await ask("drain");
  expect(complies).toBe(true);
  await isGone(pid);
  const answer = await until("it is answered", () => answers.find(({ id }) => id === 1));
  expect(answer.result?.structuredContent).toMatchObject({ status: "completed" });
  expect(executions()).toBe(1);

  const { complies: isUnderstood } = await ask("a word of a later version" as PipeControl["ask"]);
  expect([isUnderstood, broker()]).toEqual([false, (await ask("status")).pid]);
  client.endInput();
  await client.ended;
});

test("a broker that is ended while it starts says so to who waits", async () => {
  // Accepts and never answers, as a Redis that hangs.
  const silent = createServer((socket) => void socket.resume()).listen(0, "127.0.0.1");
  await once(silent, "listening");
  closeLater(async () => void silent.close());
  const more = { REDIS_URL: `redis://127.0.0.1:${(silent.address() as AddressInfo).port}` };
  const client = start("mcp", ["mcp"], more);
  const answers: RpcAnswer[] = [];
  client.onLine((line) => void answers.push(JSON.parse(line) as RpcAnswer));
  const call = toolCall(1, "execute-menu-item", { ...item(0), timeout: 40 });
  for (const message of [INITIALIZE, { jsonrpc: "2.0", method: "notifications/initialized" }, call])
    client.write(`${JSON.stringify(message)}\n`);
  const folder = brokerFolder({ ...here().env, ...more });
  await until("it is greeted", () => answers.length > 0);
  const socket = await connect(readEndpoint(folder) ?? expect.fail("it listens"));
  if (!socket) expect.fail("it accepts");
  await controlBroker(socket, "stop", "0.0.0");
  const answer = await until("it is answered", () => answers.find(({ id }) => id === 1));
  expect(JSON.stringify(answer)).toContain("BROKER_ENDED");
  client.endInput();
  await client.ended;
});

describe("a newer version while a bridge without a ledger runs something", () => {
  test("is served by the older broker, and nothing is lost", async () => {
    const editor = start("plain editor", [
      ...["simulate", "--port", "0", "--plain"],
      ...["--counter-file", counterFile()],
    ]);
    const [, port = ""] = await editor.line(/on port (\d+)/);
    const more = { UNITY_BROKER_EDITORS: `plain=127.0.0.1:${port}` };
    const client = await pipe("mcp", more);
    await toolsAreKnown(client);
    const pid = broker();
    const waiting = client.ask("execute-menu-item", { ...item(8), timeout: 50 });
    await runs(client);
    const newer = spawn(process.execPath, [release("99.0.0"), "list"], {
      env: background(more),
      stdio: "ignore",
    });
    expect(await once(newer, "exit")).toEqual([0, null]);
    expect(broker()).toBe(pid);
    expect(await waiting.answer).toMatchObject({ status: "completed" });
    expect(executions()).toBe(1);
    await client.close();
  });
});

describe("what is in the way", () => {
  test("a socket that a cleaner of temporary files took: another broker takes the place", async () => {
    const client = await pipe();
    const pid = broker();
    rmSync(readEndpoint(brokerFolder(background()))?.socket ?? "");
    const other = await pipe("mcp two");
    expect(broker()).not.toBe(pid);
    await Promise.all([client.close(), other.close()]);
  });

  test("an endpoint that somebody deleted: the broker writes it again, and goes on", async () => {
    const client = await pipe();
    const pid = broker();
    const folder = brokerFolder(background());
    rmSync(join(folder, "endpoint.json"));
    await until("it is there again", () => readEndpoint(folder));
    const other = await pipe("mcp two");
    expect(broker()).toBe(pid);
    await Promise.all([client.close(), other.close()]);
  });

  test("an endpoint of a broker that was killed, and its socket", async () => {
    const client = await pipe();
    await client.close();
    const pid = broker();
    await killed(pid);
    const next = await pipe("mcp two");
    expect(broker()).not.toBe(pid);
    await next.close();
  });

  test("a wrong configuration is said in one sentence, with its exit code", async () => {
    const wrong = { UNITY_BROKER_RETENTION_HOURS: "soon" };
    const typed = await command(["mcp"], wrong);
    expect(typed.code).toBe(2);
    expect(typed.stderr).toMatch(/^unity-broker: Configuration: .*\n/);
    expect(typed.stderr).toContain("UNITY_BROKER_RETENTION_HOURS");
    expect(typed.stdout).toBe("");
  });

  test("no Redis: the client is greeted, and its call is answered with what to do", async () => {
    const client = await pipe("mcp", { UNITY_BROKER_REDIS_BINARY: "/nonexistent/redis-server" });
    // Before the broker is known to be missing, the call itself finds it out: an answer of the tool, else of the protocol.
    const answered = await client
      .request("tools/call", { name: "list_editors", arguments: {} })
      .catch((error: Error) => error.message);
    expect(JSON.stringify(answered)).toMatch(/No Redis server was found/);
    const typed = await command(["list"], { UNITY_BROKER_REDIS_BINARY: "/nonexistent/redis-server" });
    expect(typed.code).toBe(1);
    expect(typed.stderr).toMatch(/redis-server/);
    await client.close();
  });

  test("a data folder that cannot be written is said", async () => {
    const file = join(here().folder, "a file");
    writeFileSync(file, "");
    const typed = await command(["mcp"], { UNITY_BROKER_DATA_DIR: join(file, "data") });
    expect(typed.code).toBe(1);
    expect(typed.stderr).toMatch(/^unity-broker: .*a file/);
  });
});
