/**
 * Everything that is measured, started: the private Redis as installations have it, a simulated Editor, a worker, a
 * gateway, an `mcp` process with its background broker and the peer of the floors, each a process; the verbs in this one.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { ensureEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import type { RedisAddress } from "../../../src/shared/store/connect.js";
import { endBrokers } from "../../harness/processes/brokers.js";
import { createProcesses, MAIN, until } from "../../harness/processes/processes.js";
import { createDataDirectory } from "../../harness/redis/redis.js";
import { SILENT } from "../../harness/silent.js";
import type { Closers } from "./closers.js";
import { environment } from "./environment.js";
import type { PeerSettings } from "./floors/bare-queue.js";
import { startOwnProcess } from "./floors/child-process.js";
import { type EditorSettings, QUICK_TOOL } from "./quick-tool.js";
import { createGateway, openStore } from "./shipped.js";

export interface Stage {
  readonly folder: string;
  readonly address: RedisAddress;
  readonly echoPort: number;
  readonly gateway: Gateway;
  readonly http: Client;
  readonly stdio: Client;
}

/** Rejects when a part does not start; `closers` then holds the ends of those that did. */
export async function setStage(closers: Closers): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-bench-"));
  closers.add(() => rmSync(folder, { recursive: true, force: true }));
  const data = createDataDirectory();
  closers.add(() => data.remove());
  const { cacheDir } = defaultDirectories(process.env);
  const embedded = { dataDir: data.dataDir, cacheDir, env: process.env, say: console.error };
  const { address } = await ensureEmbeddedRedis(embedded);
  const env = environment(folder, data.dataDir, cacheDir);
  // The one that `mcp` starts.
  closers.add(() => endBrokers(env));
  const processes = createProcesses();
  closers.add(() => processes.close());

  const startOwn = <Ready>(file: URL, settings: PeerSettings | EditorSettings): Promise<Ready> => {
    const started = startOwnProcess<Ready>(file, settings, env);
    processes.guard(started.pid);
    closers.add(started.close);
    return started.ready;
  };
  const peer = await startOwn<{ port: number }>(new URL("./floors/peer-process.ts", import.meta.url), {
    address,
  });
  const editorsFolder = env.UNITY_BROKER_EDITORS_DIR ?? "";
  await startOwn(new URL("./editor-process.ts", import.meta.url), { folder, editorsFolder });

  await processes.start("worker", ["worker"], env).line(/^Worker for/);
  const served = processes.start("gateway", ["gateway", "--port", "0"], env);
  const url = new URL((await served.line(/^MCP endpoint: (\S+)$/))[1] ?? "");

  const store = await openStore(address, { retentionMs: 24 * 3_600_000 });
  closers.add(() => store.close());
  const gateway = createGateway({ store, log: SILENT });
  closers.add(() => gateway.close());
  await until("the Editor's tools are known", async () =>
    (await gateway.broker.tools()).some(({ name }) => name === QUICK_TOOL),
  );

  const connect = async (transport: Transport): Promise<Client> => {
    const client = new Client({ name: "bench", version: "1" });
    closers.add(() => client.close());
    // The SDK's transports and its own interface disagree on exact optional properties.
    await client.connect(transport);
    return client;
  };
  const headers = authorization(data.dataDir);
  const http = await connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as Transport,
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp"],
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? ""])),
    stderr: "ignore",
  });
  const stdio = await connect(transport);
  if (transport.pid !== null) processes.guard(transport.pid);

  return { folder, address, echoPort: peer.port, gateway, http, stdio };
}

/** The token that a gateway makes for the clients of its own user, where it made one. */
function authorization(dataDir: string): Record<string, string> {
  try {
    return { authorization: `Bearer ${readFileSync(join(dataDir, "local.token"), "utf8").trim()}` };
  } catch {
    return {};
  }
}
