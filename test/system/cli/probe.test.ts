/**
 * A client may ask what this server speaks in a process of its own, which it ends at once: that starts nothing. What it asks
 * afterwards is served by one broker.
 */
import { existsSync, readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, test } from "vitest";
import { readEndpoint as readRedis } from "../../../src/embedded-redis/endpoint.js";
import type { RpcAnswer } from "../../harness/mcp/mcp.js";
import { REVISION, statelessRequest } from "../../harness/mcp/stateless.js";
import { runningBrokers } from "../../harness/processes/brokers.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN, type RunningProcess, until } from "../../harness/processes/processes.js";

const { start, here, closeLater } = useCommandLine();

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

function talk(process: RunningProcess) {
  const heard: RpcAnswer[] = [];
  process.onLine((line) => void heard.push(JSON.parse(line) as RpcAnswer));
  return {
    heard,
    say: (message: unknown) => process.write(`${JSON.stringify(message)}\n`),
    answer: (id: number | string) =>
      until(`${id} is answered`, () => heard.find((message) => message.id === id && !message.method)),
  };
}

/** Where the system tells which process is whose child. */
const childrenOf = (pid: number): string => {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
};

describe.each([["mcp"], ["mcp", "--in-process"]])("%s %s", (...args) => {
  test("answers a probe, and ends with it, without having started anything", async () => {
    const process = start("probe", args.filter(Boolean));
    const { say, answer } = talk(process);
    say(statelessRequest("server/discover", {}, { id: "probe" }));
    expect((await answer("probe")).result).toMatchObject({
      resultType: "complete",
      supportedVersions: [REVISION],
      capabilities: { tools: {} },
    });
    say(statelessRequest("server/discover", {}, { id: "later", version: "2099-01-01" }));
    expect((await answer("later")).error).toMatchObject({ code: -32022, data: { supported: [REVISION] } });
    say({
      jsonrpc: "2.0",
      id: "bad",
      method: "server/discover",
      params: { _meta: { "io.modelcontextprotocol/protocolVersion": REVISION } },
    });
    expect((await answer("bad")).error).toMatchObject({ code: -32602 });
    expect(childrenOf(process.pid)).toBe("");
    process.endInput();
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect(runningBrokers(here().env)).toEqual([]);
    expect(readRedis(here().dataDir)).toBeUndefined();
  });
});

test("the SDK's client probes beside its server, and then has one broker", async () => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const env = here().env as Record<string, string>;
  closeLater(() => client.close());
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [MAIN, "mcp"], env, cwd: here().folder }),
  );
  expect(client.getNegotiatedProtocolVersion()).toBe(REVISION);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("list_editors");
  expect(runningBrokers(here().env)).toHaveLength(1);
});

test("a listener is handed to the broker that follows one that died, and hears that the tools may have changed", async () => {
  const process = start("mcp", ["mcp"]);
  const { say, answer, heard } = talk(process);
  say(statelessRequest("server/discover", {}, { id: 1 }));
  await answer(1);
  say(
    statelessRequest("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: "ears" }),
  );
  const told = () =>
    heard.filter(
      ({ params }) => (params?._meta as Record<string, unknown> | undefined)?.[SUBSCRIPTION] === "ears",
    );
  await until("it listens", () => told().length > 0);
  expect(told()[0]?.method).toBe("notifications/subscriptions/acknowledged");
  const [broker = 0] = runningBrokers(here().env);
  globalThis.process.kill(broker, "SIGKILL");
  say(statelessRequest("tools/call", { name: "list_editors", arguments: {} }, { id: 2 }));
  expect((await answer(2)).result).toMatchObject({ resultType: "complete" });
  await until("it is told of a change", () =>
    told().some(({ method }) => method === "notifications/tools/list_changed"),
  );
  expect(heard.some(({ id }) => id === "ears")).toBe(false);
  process.endInput();
  await process.ended;
  expect(heard.at(-1)).toMatchObject({ id: "ears", result: { resultType: "complete" } });
});
