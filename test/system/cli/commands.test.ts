import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { identify } from "../../../src/shared/machine/living-process.js";
import { isLongForm } from "../../harness/long-form.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { openStdioClient, type StdioClient } from "../../harness/processes/process-clients.js";
import { startWorld, toolsAreKnown, type World } from "../../harness/processes/process-world.js";
import { type RunningProcess, until } from "../../harness/processes/processes.js";

const { type, start, here, closeLater } = useCommandLine();

/** A client with this user's token, as `unity-broker token local` shows it. */
async function clientOf(url: string): Promise<Client> {
  const { stdout } = await type(["token", "local"]);
  const client = new Client({ name: "user", version: "1" });
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

describe("a command line", () => {
  it("tells what there is, for the whole and for each command", async () => {
    const whole = await type(["--help"]);
    expect(whole.code).toBe(0);
    const main = readFileSync("src/cli/main.ts", "utf8");
    const [, declared = ""] = /const subCommands = \{\n([\s\S]*?)\n\};/.exec(main) ?? [];
    const names = [...declared.matchAll(/^ {2}(\w+): /gm)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      expect(whole.stdout).toMatch(new RegExp(`\\b${name}\\b`));
    }
    expect(await type([])).toMatchObject({ code: 0, stdout: whole.stdout });
    const inner = await type(["token", "create", "--help"]);
    expect(inner).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/USAGE unity-broker token create/),
    });
    const one = await type(["gateway", "--help"]);
    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(one.stdout).toMatch(/--host/);
    expect(one.stdout).toMatch(/--port/);
  });

  it("tells its version", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(await type(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.each([
    { args: ["gatway"], says: /gatway/ },
    { args: ["gateway", "--prot", "1"], says: /unknown option --prot/ },
    { args: ["gateway", "extra"], says: /unexpected argument extra\nSee `unity-broker gateway --help`/ },
    { args: ["gateway", "--port", "seven"], says: /--port seven is not a port/ },
    { args: ["simulate", "--time-scale", "fast"], says: /--time-scale fast/ },
    { args: ["simulate", "--labels", "android,a!b"], says: /--labels a!b is no label/ },
  ])("$args is the user's mistake: exit code 2, and what is wrong", async ({ args, says }) => {
    const typed = await type(args, { REDIS_URL: "redis://127.0.0.1:1" });
    expect(typed).toMatchObject({ code: 2, stderr: expect.stringMatching(says) });
    expect(typed.stderr).toMatch(/--help/);
  });

  it("refuses a configuration that it cannot read, naming the variable", async () => {
    const typed = await type(["down"], { UNITY_BROKER_PORT: "lots" });
    expect(typed).toMatchObject({ code: 2, stderr: expect.stringMatching(/UNITY_BROKER_PORT/) });
  });
});

describe("gateway", () => {
  it("refuses an address that others can reach", async () => {
    const typed = await type(["gateway", "--host", "0.0.0.0", "--port", "0"]);
    expect(typed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/0\.0\.0\.0/) });
    expect(typed.stderr).not.toMatch(/\n {4}at /);
  });

  it.each(["gateway", "up"])("%s says that its port is taken, and starts no Redis for that", async (name) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const typed = await type([name, "--port", String(port)]);
    expect(existsSync(join(here().dataDir, "redis"))).toBe(false);
    await new Promise((resolve) => taken.close(resolve));
    expect(typed).toMatchObject({ code: 1, stderr: expect.stringMatching(new RegExp(`${port}.*in use`)) });
  });

  it.each(["gateway", "worker", "up", "mcp --in-process"])(
    "%s says soon where it looked for a Redis that is away",
    async (name) => {
      const typed = await type(name.split(" "), { REDIS_URL: "redis://127.0.0.1:1", UNITY_BROKER_PORT: "0" });
      expect(typed).toMatchObject({ code: 1, stdout: "" });
      expect(typed.stderr).toMatch(/127\.0\.0\.1:1/);
      expect(typed.stderr).not.toMatch(/\n {4}at /);
      expect(typed.ms).toBeLessThan(20_000);
    },
  );
});

describe("tokens", () => {
  it("are shown once, listed without their value, and end when they are revoked", async () => {
    const made = await type(["token", "create", "ann"]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ujb_[\w-]{43}\n$/) });
    expect((await type(["token", "create", "ann"])).stderr).toMatch(
      /A principal "ann" already exists.*token add/,
    );
    expect((await type(["token", "create", "../x"])).code).toBe(1);
    const listed = await type(["token", "list"]);
    expect(listed.stdout).toMatch(/^PRINCIPAL {2}ROLE .*\nann {8}submit {2}interactive {2}\* .* 20\d\d-/);
    const kept = readFileSync(join(here().dataDir, "tokens.json"), "utf8");
    expect(kept).not.toContain(made.stdout.trim());
    const grants = ["--role", "read", "--editors", "shop@*,game@*", "--deny-tools", "build-*"];
    expect(await type(["token", "set", "ann", ...grants])).toMatchObject({ code: 0 });
    expect((await type(["token", "set", "ann", "--role", "king"])).stderr).toMatch(/none of read, submit/);
    expect(await type(["token", "add", "ann", "--expires", "30d"])).toMatchObject({ code: 0 });
    for (const wrong of [
      ["add", "ann", "--expires", "yesterday"],
      ["add", "ann", "--expires", "2099-02-30"],
      ["add", "nobody"],
      ["revoke", "ann", "--token"],
      ["set", "ann", "--deny-tools", ""],
      ["set", "ann", "--tools", "a", "--tools", "b"],
    ]) {
      expect((await type(["token", ...wrong])).code, wrong.join(" ")).toBe(2);
    }
    const [entry] = JSON.parse((await type(["token", "list", "--json"])).stdout);
    expect(entry).toMatchObject({
      role: "read",
      editors: { allow: ["shop@*", "game@*"], deny: [] },
      tools: { allow: ["*"], deny: ["build-*"] },
      tokens: [{ id: expect.any(String) }, { expires_at: expect.any(String) }],
    });
    const [first] = entry.tokens;
    expect(await type(["token", "revoke", "ann", "--token", first.id])).toMatchObject({ code: 0 });
    expect(await type(["token", "revoke", "ann"])).toMatchObject({ code: 0 });
    expect(await type(["token", "revoke", "ann"])).toMatchObject({ code: 2 });
    expect((await type(["token", "list"])).stdout).toMatch(/No tokens yet/);
  });

  it("let others reach a gateway; without one it is refused to listen for them", async () => {
    await type(["token", "create", "ci"]);
    const gateway = start("gateway", ["gateway", "--host", "0.0.0.0", "--port", "0"]);
    const [, port = ""] = await gateway.line(/^MCP endpoint: .*:(\d+)\/mcp$/);
    const { stdout: local } = await type(["token", "local"]);
    const post = (token: string) =>
      fetch(`http://127.0.0.1:${port}/mcp`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
      });
    expect((await post(local.trim())).status).toBe(401);
    expect(await type(["gateway", "--host", "0.0.0.0", "--insecure-local"])).toMatchObject({ code: 2 });
  });
});

describe("up and down", () => {
  it("up --simulate serves; Ctrl-C ends it; down ends the private Redis and keeps its data", async () => {
    const up = start("up", ["up", "--simulate", "--port", "0"]);
    const [, url = ""] = await up.line(/^MCP endpoint: (.*)$/);
    const client = await clientOf(url);
    await until("the Editor's tools are listed", async () =>
      (await client.listTools()).tools.some(({ name }) => name === "get-hierarchy"),
    );
    const answer = await client.callTool({ name: "get-hierarchy", arguments: { timeout: 20 } });
    expect(answer.structuredContent).toMatchObject({ status: "completed" });
    await client.close();

    expect(await up.kill("SIGINT")).toEqual({ code: 0, signal: null });
    expect(up.stdout).toMatch(/token local \| .* install claude-code --http http:.* --token -/);

    const { pid } = JSON.parse(readFileSync(join(here().dataDir, "redis", "endpoint.json"), "utf8")) as {
      pid: number;
    };
    expect(lives(pid)).toBe(true);
    expect(await type(["down"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/has ended/) });
    await until("the private Redis is gone", () => !lives(pid));
    expect(existsSync(join(here().dataDir, "redis"))).toBe(true);
    expect(await type(["down"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/No private Redis/),
    });
  });

  it("what was done before down is known after the next up", async () => {
    const item = { MenuItemPath: "Simulator/Block For 0.1 Seconds", timeout: 20 };
    const heard: unknown[] = [];
    for (const round of [1, 2]) {
      const up = start(`up ${round}`, ["up", "--simulate", "--port", "0"]);
      const [, url = ""] = await up.line(/^MCP endpoint: (.*)$/);
      const client = await clientOf(url);
      await until("the Editor's tools are listed", async () =>
        (await client.listTools()).tools.some(({ name }) => name === "execute-menu-item"),
      );
      const [first] = heard as { log_id: string }[];
      const call = first
        ? { name: "get_operation_result", arguments: { log_id: first.log_id } }
        : { name: "execute-menu-item", arguments: item };
      heard.push((await client.callTool(call)).structuredContent);
      await client.close();
      expect(await up.kill("SIGTERM")).toEqual({ code: 0, signal: null });
      expect((await type(["down"])).code).toBe(0);
    }
    const [first, second] = heard as { log_id: string; result: unknown }[];
    expect(second).toMatchObject({ status: "completed", log_id: first?.log_id, result: first?.result });
  });
});

describe("mcp --in-process", () => {
  const serve = async (name: string): Promise<StdioClient> =>
    openStdioClient(start(name, ["mcp", "--in-process"]));
  const simulate = async (): Promise<RunningProcess> => {
    const args = ["simulate", "--port", "0", "--ledger-folder", join(here().folder, "ledger")];
    const editor = start("editor", args);
    await editor.line(/^Simulated Unity Editor/);
    return editor;
  };

  /** Every line that was ever written is a JSON-RPC message. */
  const expectProtocolOnly = ({ stdout }: RunningProcess): void => {
    for (const line of stdout.split("\n").filter(Boolean)) {
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    }
  };

  it("writes protocol and nothing else to stdout, and ends with its input", async () => {
    await simulate();
    const client = await serve("mcp");
    await toolsAreKnown(client);
    expect(await client.call("get-hierarchy", { timeout: 20 })).toMatchObject({ status: "completed" });
    client.process.endInput();
    expect(await client.process.ended).toEqual({ code: 0, signal: null });
    expectProtocolOnly(client.process);
    expect(client.process.stderr).not.toBe("");
  });

  it.each(isLongForm ? (["SIGTERM", "SIGINT", "SIGHUP"] as const) : (["SIGTERM"] as const))(
    "ends at %s, and answers the wait that is open",
    async (signal) => {
      await simulate();
      const client = await serve("mcp");
      await toolsAreKnown(client);
      const item = "Simulator/Block For 2 Seconds";
      const waiting = client.ask("execute-menu-item", { MenuItemPath: item, timeout: 40 });
      await until("it runs", async () => {
        const { operations } = await client.call("list_operations", {});
        return (operations as { state: string }[])[0]?.state === "running";
      });
      const ended = client.process.kill(signal);
      expect(await waiting.answer).toMatchObject({ status: "timeout", log_id: expect.any(String) });
      expect(await ended).toEqual({ code: 0, signal: null });
      expectProtocolOnly(client.process);
      // Nothing was lost: the next process reads it.
      const next = await serve("the next mcp");
      const reported = await next.call("execute-menu-item", { MenuItemPath: item, timeout: 40 });
      expect(reported).toMatchObject({ status: "completed", deduplicated: true });
      await next.close();
    },
  );

  it("two at once share one Editor: one owns it, and when that one ends, the other takes over", async () => {
    await simulate();
    const one = await serve("mcp one");
    const two = await serve("mcp two");
    await Promise.all([toolsAreKnown(one), toolsAreKnown(two)]);
    const owners = (): StdioClient[] =>
      [one, two].filter(({ process }) => process.stderr.includes("owns the Editor"));
    await until("one of them owns the Editor", () => owners().length > 0);
    expect(owners()).toHaveLength(1);
    const [owner] = owners() as [StdioClient];
    const other = owner === one ? two : one;
    // Both are served by either owner.
    for (const [client, size] of [
      [owner, 1],
      [other, 2],
    ] as const) {
      expect(await client.call("get-hierarchy", { SimulatedSize: size, timeout: 20 })).toMatchObject({
        status: "completed",
        result: { nodeCount: size },
      });
    }
    // It ends in the middle of the other's call.
    const item = "Simulator/Block For 0.5 Seconds";
    const waiting = other.ask("execute-menu-item", { MenuItemPath: item, timeout: 40 });
    await until("it runs", async () => {
      const { operations } = await other.call("list_operations", {});
      return (operations as { state: string }[])[0]?.state === "running";
    });
    await owner.close();
    expect(await waiting.answer).toMatchObject({ status: "completed", result: { MenuItemPath: item } });
    expect(other.process.stderr).toContain("owns the Editor");
    expect(await other.call("get-hierarchy", { SimulatedSize: 3, timeout: 20 })).toMatchObject({
      status: "completed",
    });
    await other.close();
  });
});

describe("worker and gateway", () => {
  it("end at SIGTERM with work under way, which the next ones finish", async () => {
    const world: World = await startWorld();
    closeLater(world.close);
    const client = await world.http();
    const item = { MenuItemPath: "Simulator/Block For 2 Seconds", timeout: 40 };
    const waiting = client.ask("execute-menu-item", item);
    await until("it runs", async () => (await world.editor.executions()).length === 1);
    expect(await world.worker.process.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    const gone = world.gateway.process.kill("SIGTERM");
    expect(await waiting.answer).toMatchObject({ status: "timeout" });
    expect(await gone).toEqual({ code: 0, signal: null });
    await world.gateway.start();
    await world.worker.start();
    expect(await client.call("execute-menu-item", item)).toMatchObject({ status: "completed" });
    expect(await world.editor.executions()).toHaveLength(1);
    await client.close();
  });
});

describe("demo", () => {
  it("shows the main job and exits 0 only because it held", async () => {
    const typed = await type(["demo"]);
    expect(typed, typed.stderr).toMatchObject({ code: 0 });
    expect(typed.stdout).toMatch(/sent 6 times, executed once/);
  });
});

function lives(pid: number): boolean {
  return identify(pid) !== undefined;
}
