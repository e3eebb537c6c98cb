/** The broker from a terminal: calls, their outcomes, and that no habit of a terminal runs anything twice. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { until } from "../../harness/processes/processes.js";

const { type, start, here, closeLater } = useCommandLine();

const counterFile = () => join(here().folder, "executions.log");
const executions = () =>
  existsSync(counterFile())
    ? readFileSync(counterFile(), "utf8").trim().split("\n").filter(Boolean).length
    : 0;

async function simulate(): Promise<void> {
  const folder = here().folder;
  const args = ["--port", "0", "--counter-file", counterFile(), "--ledger-folder", join(folder, "ledger")];
  await start("editor", ["simulate", ...args]).line(/^Simulated Unity Editor/);
}

const blocks = (seconds: number) => `{"MenuItemPath":"Simulator/Block For ${seconds} Seconds"}`;
const answerIn = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as Record<string, unknown>;

describe("call", () => {
  test("runs a tool and prints its outcome; typed again it runs again, a lost one does not", async () => {
    await simulate();
    const args = ["call", "execute-menu-item", "--json", blocks(0.3)];
    const first = await type(args);
    expect(first.code, first.stderr).toBe(0);
    expect(answerIn(first)).toMatchObject({ status: "completed", result: { Success: true } });

    // Read and typed again: a new intent.
    const second = answerIn(await type(args));
    expect(second.log_id).not.toBe(answerIn(first).log_id);
    expect(executions()).toBe(2);

    // Killed before anybody read its outcome, as by `timeout 5 unity-broker call …`: the next one is its retry.
    const slow = ["call", "execute-menu-item", "--json", blocks(2)];
    const lost = start("lost", slow);
    await until("it runs", () => executions() === 3);
    await lost.kill("SIGKILL");
    await until("it has ended", async () => {
      const { stdout } = await type(["list", "--json"]);
      return (JSON.parse(stdout) as { status: string }[]).every(({ status }) => status === "completed");
    });
    const retried = answerIn(await type(slow));
    expect(retried).toMatchObject({ status: "completed", deduplicated: true });
    expect(retried.message).toMatch(/^Not run again: /);
    expect(executions()).toBe(3);
  });

  test.each([["call", "--args"] as const, ["run"] as const])(
    "%s takes the broker's timeout among the arguments, as every client may give it",
    async (...words) => {
      await simulate();
      const [command, ...option] = words;
      const args = '{"MenuItemPath":"Simulator/Block For 0 Seconds","timeout":5}';
      const typed = await type([command, "execute-menu-item", ...option, args]);
      expect(typed, typed.stdout + typed.stderr).toMatchObject({ code: 0 });
      expect(executions()).toBe(1);
    },
  );

  test("Ctrl-C ends the wait and nothing else; result reads the outcome", async () => {
    await simulate();
    const waiting = start("waiting", ["call", "execute-menu-item", "--args", blocks(2), "--follow"]);
    await until("it runs", () => executions() === 1);
    expect(await waiting.kill("SIGINT")).toEqual({ code: 130, signal: null });
    const [, logId = ""] = /log_id (\S+)/.exec(waiting.stdout) ?? [];
    expect(waiting.stdout).toContain(`result ${logId} --follow`);
    const result = await type(["result", logId, "--follow"]);
    expect(result).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^completed .*\n.*\n\{\n {2}"Success"/),
    });
    expect(executions()).toBe(1);
    const explained = await type(["explain", logId]);
    expect(explained.stdout).toMatch(
      /accepted[\s\S]*sent[\s\S]*started[\s\S]*completed[\s\S]*executed it once/,
    );
  });

  test("Ctrl-C while it still connects ends the process as usual, and nothing was asked", async () => {
    const asked: unknown[] = [];
    const gateway = createServer(async (request, response) => {
      const body = await json(request).catch(() => ({}));
      const { method, id } = body as { method?: string; id?: number };
      asked.push(method ?? request.method);
      // The signal is there before the answer: whatever connects all the same would ask next.
      if (method === "initialize") void waiting.kill("SIGINT");
      const result = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "held", version: "1" },
        structuredContent: { status: "completed" },
        content: [],
      };
      response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json" });
      response.end(id === undefined ? undefined : JSON.stringify({ jsonrpc: "2.0", id, result }));
    }).listen(0, "127.0.0.1");
    await once(gateway, "listening");
    closeLater(async () => void gateway.close().closeAllConnections());
    const { port } = gateway.address() as AddressInfo;
    const waiting = start("connecting", ["call", "ping"], {
      UNITY_BROKER_URL: `http://127.0.0.1:${port}/mcp`,
    });
    await once(gateway, "request");
    // By the signal: a shell shows 130.
    expect(await waiting.ended).toEqual({ code: null, signal: "SIGINT" });
    expect(asked).toEqual(["initialize"]);
    expect(waiting.stdout + waiting.stderr).toBe("");
  });

  test.each([
    ["in the answer", 3],
    ["in a result too large for an answer", 600],
  ])("ends with code 7 if the tests failed, %s", async (_where, failed) => {
    await simulate();
    const tests = { SimulatedTests: failed + 1, SimulatedSeconds: 0 };
    const red = await type([
      "call",
      "run-tests",
      "--json",
      JSON.stringify({ ...tests, SimulatedFailures: failed }),
    ]);
    expect(answerIn(red)).toMatchObject({ status: "completed", result: { Success: false } });
    expect(red.code, red.stderr).toBe(7);
    const read = await type(["result", String(answerIn(red).log_id)]);
    expect(read.code, read.stderr).toBe(7);
    const green = await type([
      "call",
      "run-tests",
      "--json",
      JSON.stringify({ ...tests, SimulatedFailures: 0 }),
    ]);
    expect(answerIn(green)).toMatchObject({ result: { Success: true } });
    expect(green.code, green.stderr).toBe(0);
  });

  test("with a key it is one operation, however often it is typed", async () => {
    await simulate();
    const args = ["call", "execute-menu-item", "--json", blocks(0.1), "--key", "build 7"];
    const [first, second] = [answerIn(await type(args)), answerIn(await type(args))];
    expect(second).toMatchObject({ log_id: first?.log_id, deduplicated: true });
    const forced = answerIn(await type([...args, "--force-new", String(first?.log_id)]));
    expect(forced.log_id).not.toBe(first?.log_id);
    expect(executions()).toBe(2);
  });

  test("editors, tools and list show what there is, also as JSON", async () => {
    await simulate();
    expect((await type(["list"])).stdout).toBe("No operations yet.\n");
    const editors = await type(["editors"]);
    expect(editors.stdout).toMatch(/^EDITOR +UNITY +STATE\nsimulated-project@\w+ +6000\S+ +ready\n$/);
    const tools = JSON.parse((await type(["tools", "--json"])).stdout) as { name: string }[];
    expect(tools.map(({ name }) => name)).toContain("execute-menu-item");
    await type(["call", "ping", "--json", '{"Message":"hello"}']);
    expect(JSON.parse((await type(["list", "--json"])).stdout)).toMatchObject([{ tool: "ping" }]);
  });

  test.each([
    [["call"], 2, /Missing required positional argument: TOOL/],
    [["call", "ping", "--json", "{"], 2, /the arguments are not JSON/],
    [["call", "ping", "--json", "[1]"], 2, /not a JSON object/],
    [["call", "ping", "--timeout", "soon"], 2, /--timeout soon is not a number of seconds/],
    [["list", "--limit", "0"], 2, /--limit 0 is not a number from 1 to 100/],
    [["result", "no-such"], 4, /^$/],
    [["call", "ping"], 1, /^$/],
  ])("%j ends with code %i and says why", async (args, code, says) => {
    const typed = await type(args);
    expect(typed).toMatchObject({ code, stderr: expect.stringMatching(says) });
    expect(typed.stdout + typed.stderr).not.toMatch(/\n {4}at /);
  });
});

describe("through a gateway", () => {
  test("a principal's operations are its own, by every command", async () => {
    await simulate();
    const tokens = { ann: "", ben: "" };
    for (const name of ["ann", "ben"] as const)
      tokens[name] = (await type(["token", "create", name])).stdout.trim();
    const up = start("up", ["up", "--port", "0"]);
    const [, url = ""] = await up.line(/^MCP endpoint: (.*)$/);
    const as = (name: "ann" | "ben", args: string[]) =>
      type(args, { UNITY_BROKER_TOKEN: tokens[name], UNITY_BROKER_URL: url });
    await until("the Editor is known", async () => (await as("ann", ["tools"])).stdout.includes("ping"));

    const made = answerIn(
      await as("ann", ["call", "execute-menu-item", "--json", blocks(0.1), "--key", "nightly"]),
    );
    const logId = String(made.log_id);
    for (const verb of ["result", "status", "explain", "cancel"]) {
      const refused = await as("ben", [verb, logId, "--json"]);
      expect(refused.code, verb).toBe(4);
      expect(answerIn(refused), verb).toMatchObject({ status: "not_found" });
      expect((await as("ann", [verb, logId, "--json"])).code, verb).toBe(0);
    }
    expect((await as("ben", ["list"])).stdout).toBe("No operations yet.\n");
    expect((await as("ann", ["list"])).stdout).toContain(logId);
    const bens = await as("ben", ["call", "execute-menu-item", "--json", blocks(0.1), "--key", "nightly"]);
    expect(answerIn(bens).log_id).not.toBe(logId);
    expect(executions()).toBe(2);

    const stranger = await type(["list"], { UNITY_BROKER_TOKEN: "ujb_wrong", UNITY_BROKER_URL: url });
    expect(stranger).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not know this token/) });
    // The one who owns the machine sees its own, not theirs.
    expect((await type(["list"])).stdout).toBe("No operations yet.\n");
  });
});
