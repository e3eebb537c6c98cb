/** A team's own prompts reach clients of every revision, on every way to a broker. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { createPrompts } from "../../../src/gateway/mcp/prompts/prompts.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { connectStateless } from "../../harness/mcp/stateless.js";
import {
  type Installation,
  openInstallation,
  type StdioServer,
} from "../../harness/processes/installation.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** What a test ends, the last one first. */
const closers: (() => unknown)[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-prompts-"));
  write("check_scene", "Check {scene} with {tool}.");
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  const file = {
    description: "Looks at a scene.",
    arguments: [{ name: "scene", required: true }, { name: "tool" }],
    messages: [{ role: "user", content: { type: "text", text } }],
  };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(file));
}

/** What both SDKs' clients have. */
type PromptClient = Pick<Client, "listPrompts" | "getPrompt">;
const names = async (client: PromptClient) => (await client.listPrompts()).prompts.map(({ name }) => name);
const filled = async (client: PromptClient, given?: Record<string, string>) =>
  (await client.getPrompt({ name: "check_scene", ...(given ? { arguments: given } : {}) })).messages;
const said = (text: string) => [{ role: "user", content: { type: "text", text } }];

const connectors = {
  "up to 2025-11-25": async (url: string) => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    closers.push(() => client.close());
    return client;
  },
  "2026-07-28": async (url: string) => {
    const client = await connectStateless(url);
    closers.push(() => client.close());
    return client;
  },
};

test.each(Object.keys(connectors) as (keyof typeof connectors)[])(
  "a client of revision %s is offered them, gets them filled in and as they were edited, and is offered values",
  async (revision) => {
    const system = await start();
    const log = createHeardLog();
    const http = await createHttpGateway(
      { gateway: system.gateway, log, version: "0", prompts: createPrompts(log, { folder }) },
      { host: "127.0.0.1", port: 0 },
    );
    closers.push(http.close);
    const client = await connectors[revision](http.url);
    expect(await names(client)).toEqual(["start_and_wait", "after_a_timeout", "run_again", "check_scene"]);
    expect(await filled(client, { scene: "Main", tool: "look" })).toEqual(said("Check Main with look."));
    await expect(filled(client)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("The prompt check_scene needs scene."),
    });
    write("check_scene", "Look at {scene}.");
    expect(await filled(client, { scene: "Main" })).toEqual(said("Look at Main."));
    const offered = async (name: string, value: string) => {
      const ref = { type: "ref/prompt", name: "check_scene" } as const;
      return (await client.complete({ ref, argument: { name, value } })).completion.values;
    };
    await system.present(system.editor);
    expect(await offered("tool", "loo")).toEqual(["look"]);
    expect(await offered("scene", "")).toEqual([]);
    writeFileSync(join(folder, "check_scene.json"), "{");
    await expect(filled(client, { scene: "Main" })).rejects.toMatchObject({ code: -32602 });
  },
);

test("the setting counts on every way to a broker; a faulty file is said in the log, and nobody is kept out by it", async () => {
  writeFileSync(join(folder, "faulty.json"), "{}");
  // Who opens it to read waits for who writes; there is none on Windows.
  spawnSync("mkfifo", [join(folder, "pipe.json")]);
  const installation = await openInstallation({ env: { UNITY_BROKER_PROMPTS: folder } });
  closers.push(async () => expect(await installation.close()).toEqual([]));
  const gateway = await installation.gateway("gateway");
  await gateway.start();
  const clients = [
    await connectors["up to 2025-11-25"](gateway.url()),
    await overStreams(installation, await installation.stdioServer()),
    await overStreams(installation, await installation.sharingServer()),
  ];
  const offers = async (client: PromptClient): Promise<void> => {
    expect(await names(client)).toContain("check_scene");
    expect(await names(client)).not.toContain("faulty");
    expect(await filled(client, { scene: "Main" })).toEqual(said("Check Main with ."));
  };
  for (const client of clients) await offers(client);
  // It takes the place of the broker in the background, whose clients go on here.
  const environment = await installation.broker.environment();
  const up = installation.processes.start("up", ["up", "--port", "0", "--insecure-local"], environment);
  const [, url = ""] = await up.line(/^MCP endpoint: (.*)$/);
  await offers(await connectors["up to 2025-11-25"](url));
  for (const client of clients) await offers(client);
  expect(installation.processes.logs()).toContain("The prompt file faulty.json is skipped: messages: ");
});

async function overStreams(installation: Installation, server: StdioServer): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({ ...server, stderr: "ignore" });
  await client.connect(transport);
  installation.processes.guard(transport.pid ?? 0);
  closers.push(() => client.close());
  return client;
}
