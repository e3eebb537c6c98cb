/** `unity-broker demo`: shows the main promise in half a minute, with everything real except Unity. Exits 0 only if it held. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { z } from "zod";
import { stopEmbeddedRedis } from "../../embedded-redis/embedded-redis.js";
import { createGateway } from "../../gateway/gateway.js";
import { createHttpGateway } from "../../gateway/http/http.js";
import { printableJson, printableLine } from "../../shared/printable.js";
import { createSimulatedEditor, type SimulatedEditor } from "../../simulator/editor.js";
import { createWorker } from "../../worker/worker.js";
import { coloursFor } from "../client/render.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/processes.js";
import { gatewayOptions, workerOptions } from "../processes/options.js";
import { startRuntime } from "../processes/runtime.js";
import { readSettings } from "../processes/settings.js";
import { selfCommand } from "../self.js";
import { VERSION } from "../version.js";

const BLOCKS_SECONDS = 6;
const RETRIES = 5;
const CALL = {
  name: "execute-menu-item",
  arguments: { MenuItemPath: `Simulator/Block For ${BLOCKS_SECONDS} Seconds`, timeout: 1 },
};

const { bold, dim, green, yellow } = coloursFor(process.stdout, process.env);

const DemoAnswer = z.looseObject({
  status: z.string(),
  log_id: z.string(),
  state: z.string(),
  executed_at: z.string().optional(),
  result: z.unknown().optional(),
});

export const demo: Run<typeof declared.demo> = async () => {
  const folder = await mkdtemp(join(tmpdir(), "unity-broker-demo-"));
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const { url, editor } = await start(folder, closers);
    if (!(await show(url, editor)))
      throw new Error("the demo failed: see above what was executed or answered");
  } finally {
    for (const close of closers.reverse()) await close();
  }
  const self = selfCommand();
  console.log(`\nTo start a broker that stays:      ${self} up --simulate`);
  console.log(`To have your MCP client start it:  ${self} install claude-code`);
};

/** Everything in a folder of its own, so that the demo neither needs nor leaves anything. */
async function start(
  folder: string,
  closers: (() => Promise<unknown>)[],
): Promise<{ url: string; editor: SimulatedEditor }> {
  const found = readSettings();
  const settings = {
    ...found,
    config: { ...found.config, REDIS_URL: undefined, UNITY_BROKER_LOG_LEVEL: "error" as const },
    dataDir: join(folder, "data"),
    editorsFolder: join(folder, "editors"),
  };
  console.log(bold("1. Starting Redis, the gateway, the worker and a simulated Unity Editor …"));
  closers.push(() => stopEmbeddedRedis(settings));
  const runtime = await startRuntime(settings);
  closers.push(runtime.close);
  const gateway = createGateway(runtime, { ...gatewayOptions(runtime.config), answers: "full" });
  closers.push(gateway.close);
  const http = await createHttpGateway(
    { gateway, log: runtime.log, version: VERSION },
    { host: "127.0.0.1", port: 0, progress: { everyMs: 1_000, minMs: 250 } },
  );
  closers.push(http.close);
  const worker = createWorker({ ...runtime, version: VERSION }, workerOptions(runtime.config));
  closers.push(worker.close);
  const editor = await createSimulatedEditor({ stateFolder: folder, port: 0 });
  closers.push(editor.close);
  console.log(`   MCP endpoint: ${http.url}\n   Unity Editor: ${editor.editorId}`);
  return { url: http.url, editor };
}

async function show(url: string, editor: SimulatedEditor): Promise<boolean> {
  await untilToolsAreKnown(url);
  heading(`2. A client calls a menu item that blocks Unity for ${BLOCKS_SECONDS} s, and waits 1 s:`);
  const first = await inNewSession(url, (client) => call(client));
  console.log(standing(first));

  heading(`3. ${RETRIES} reconnecting clients, each a new session, send the same call again:`);
  const retries = await Promise.all(
    Array.from({ length: RETRIES }, () => inNewSession(url, (client) => call(client))),
  );
  for (const retry of retries) console.log(standing(retry));

  heading("4. One of them waits on, with progress:");
  await inNewSession(url, (client) => follow(client, first.log_id));

  heading("5. All six ask for the result by log_id:");
  const results = await Promise.all(
    [first, ...retries].map(({ log_id }) => inNewSession(url, (client) => read(client, log_id))),
  );
  for (const result of results) console.log(standing(result));
  const contents = new Set(results.map(({ result }) => printableJson(result, 0)));
  for (const content of contents) console.log(`   ${dim(`result ${content}`)}`);

  const executions = editor.counter().length;
  const isOne =
    executions === 1 &&
    new Set(results.map(({ log_id }) => log_id)).size === 1 &&
    results.every(({ status }) => status === "completed") &&
    contents.size === 1;
  const count = `executed ${executions === 1 ? "once" : `${executions} times`}`;
  heading(`6. The Editor's own counter: sent ${RETRIES + 1} times, ${isOne ? green(count) : count}.`);
  return isOne;
}

function heading(text: string): void {
  console.log(`\n${bold(text)}`);
}

function standing({ status, log_id }: z.infer<typeof DemoAnswer>): string {
  return `   → status ${(status === "completed" ? green : yellow)(status)}, log_id ${log_id}`;
}

async function inNewSession<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: "unity-broker-demo", version: VERSION });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await transport.terminateSession();
    await client.close();
  }
}

async function untilToolsAreKnown(url: string): Promise<void> {
  await inNewSession(url, async (client) => {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const { tools } = await client.listTools();
      if (tools.some(({ name }) => name === CALL.name)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error("the simulated Editor did not appear");
  });
}

async function call(client: Client): Promise<z.infer<typeof DemoAnswer>> {
  return DemoAnswer.parse((await client.callTool(CALL)).structuredContent);
}

async function read(client: Client, log_id: string): Promise<z.infer<typeof DemoAnswer>> {
  const answer = await client.callTool({ name: "get_operation_result", arguments: { log_id } });
  return DemoAnswer.parse(answer.structuredContent);
}

async function follow(client: Client, log_id: string): Promise<void> {
  const wait = {
    name: "get_operation_result",
    arguments: { log_id, wait: true, timeout: BLOCKS_SECONDS + 10 },
  };
  const answer = await client.callTool(wait, undefined, {
    onprogress: ({ message, progress, total }) =>
      console.log(
        `   … ${printableLine(message ?? "")}${total === undefined ? "" : ` (${Math.round((100 * progress) / total)} %)`}`,
      ),
  });
  console.log(standing(DemoAnswer.parse(answer.structuredContent)));
}
