/** The command line as a client: one way to call the broker, whether it is a gateway elsewhere or made here. */
import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js";
import { createGateway, type Gateway } from "../../gateway/gateway.js";
import { serveStdio } from "../../gateway/mcp/stdio.js";
import { resourceOf } from "../../gateway/result-uri.js";
import type { Answer } from "../../shared/answer.js";
import type { News } from "../../shared/redis/news.js";
import { TROUBLE_LIMITS } from "../../shared/trouble.js";
import { createWorker, type WorkerOptions } from "../../worker/worker.js";
import { originOf } from "../origin.js";
import { gatewayOptions, readSettings, type Settings, startRuntime, workerOptions } from "../runtime.js";
import { VERSION } from "../version.js";

export interface ProgressNote {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface BrokerClient {
  /** Where the operations are: what this client read is remembered per place. */
  place: string;
  /** Rejects only where the broker cannot be reached; refusals are answers. */
  call(
    tool: string,
    args?: Record<string, unknown>,
    options?: { onProgress?: (note: ProgressNote) => void; signal?: AbortSignal },
  ): Promise<Answer>;
  tools(): Promise<McpTool[]>;
  /** Some bytes of a stored result, from `offset`; none after its end. Rejects where there is no such result. */
  piece(id: string, offset: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Somebody looks at the screen: what does not connect within seconds is shown, not waited for. */
const IMPATIENT: Partial<WorkerOptions> = {
  watchMs: 200,
  trouble: { ...TROUBLE_LIMITS, reloadMs: 2_000, announcedReloadMs: 2_000 },
};

/** How long a first command looks for an Editor, ms. */
const FIRST_LOOK_MS = 3_000;

/** Waits are cut to 60 s by the broker: whatever takes longer than this is a lost connection, ms. */
const REQUEST_MS = 90_000;

/**
 * Through the gateway where a token is set, else over the store itself. `serves`: the command needs the
 * Editor itself, so it brings a worker along in case no other process owns it. `isImpatient`:
 * what keeps an Editor from working is wanted at once.
 */
export async function connectBroker(
  options: { serves: boolean; isImpatient?: boolean },
  settings: Settings = readSettings(),
): Promise<BrokerClient> {
  const {
    UNITY_BROKER_TOKEN: token,
    UNITY_BROKER_URL: url,
    UNITY_BROKER_HOST,
    UNITY_BROKER_PORT,
  } = settings.config;
  if (token === undefined && url === undefined) return connectHere(settings, options);
  const endpoint = new URL(url ?? `${originOf(UNITY_BROKER_HOST, UNITY_BROKER_PORT)}/mcp`);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } });
  const client = await connect(transport as Transport, endpoint.href);
  return clientOver(client, endpoint.href, async () => {
    // A gateway that went away meanwhile has nothing to end.
    await transport.terminateSession().catch(() => undefined);
    await client.close();
  });
}

async function connectHere(
  settings: Settings,
  { serves, isImpatient = false }: { serves: boolean; isImpatient?: boolean },
): Promise<BrokerClient> {
  const quiet = {
    ...settings.config,
    UNITY_BROKER_LOG_LEVEL: quietest(settings.config.UNITY_BROKER_LOG_LEVEL),
  };
  const runtime = await startRuntime({ ...settings, config: quiet });
  const gateway = createGateway(runtime, gatewayOptions(runtime.config));
  const worker = serves
    ? createWorker(
        { ...runtime, version: VERSION },
        {
          ...workerOptions(runtime.config),
          ...(isImpatient ? IMPATIENT : {}),
        },
      )
    : undefined;
  if (worker) await untilConnected(gateway, runtime.store.news);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const service = serveStdio(
    { gateway, log: runtime.log, version: VERSION },
    { stdin, stdout },
    { folder: process.cwd() },
  );
  const client = await connect(createPipe(stdin, stdout), "the broker in this process");
  return clientOver(client, runtime.store.storeId, async () => {
    await client.close();
    await service.close();
    await worker?.close();
    await gateway.close();
    await runtime.close();
  });
}

/** A worker that has just begun has to find its Editors first; resolves when one is connected, or in vain. */
async function untilConnected({ broker }: Gateway, news: News): Promise<void> {
  const isConnected = async (): Promise<boolean> => {
    const { editors } = await broker.editors();
    return editors.some(({ connected }) => connected) && (await broker.tools()).length > 0;
  };
  const vain = new AbortController();
  const timer = setTimeout(() => vain.abort(), FIRST_LOOK_MS);
  await new Promise<void>((resolve, reject) => {
    vain.signal.addEventListener("abort", () => resolve());
    const look = (): void => void isConnected().then((connected) => connected && vain.abort(), reject);
    const stop = news.on("editors", look);
    vain.signal.addEventListener("abort", stop);
    look();
  }).finally(() => clearTimeout(timer));
}

/** A command's own output is what matters: the log speaks up only if something is wrong, or debugging was asked for. */
function quietest(level: Settings["config"]["UNITY_BROKER_LOG_LEVEL"]): typeof level {
  return level === "info" ? "error" : level;
}

async function connect(transport: Transport, where: string): Promise<Client> {
  const client = new Client({ name: "unity-broker", version: VERSION });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    throw new Error(`${where} did not answer: ${(error as Error).message}`, { cause: error });
  }
}

function clientOver(client: Client, place: string, close: () => Promise<void>): BrokerClient {
  return {
    place,
    close,
    async call(tool, args = {}, { onProgress, signal } = {}) {
      const result = await client
        .callTool({ name: tool, arguments: args }, undefined, {
          timeout: REQUEST_MS,
          ...(onProgress ? { onprogress: onProgress } : {}),
          ...(signal ? { signal } : {}),
        })
        .catch((error: Error) => {
          // The SDK says twice what kind of error it is.
          throw new Error(error.message.replace(/^(MCP error -?\d+: )+/, ""), { cause: error });
        });
      if (result.structuredContent) return result.structuredContent as unknown as Answer;
      const [text] = result.content as { type: string; text?: string }[];
      return JSON.parse(text?.text ?? "{}") as Answer;
    },
    async tools() {
      return (await client.listTools()).tools;
    },
    async piece(id, offset) {
      const { uri } = resourceOf(id);
      const { contents } = await client.readResource(
        { uri: `${uri}?offset=${offset}` },
        { timeout: REQUEST_MS },
      );
      const [part] = contents;
      return Buffer.from(part && "blob" in part ? part.blob : "", "base64");
    },
  };
}

/** The client's end of a server's streams in this process. */
function createPipe(stdin: PassThrough, stdout: PassThrough): Transport {
  const buffer = new ReadBuffer();
  const pipe: Transport = {
    async start() {
      stdout.on("data", (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message; message = buffer.readMessage())
          pipe.onmessage?.(message);
      });
    },
    async send(message) {
      stdin.write(serializeMessage(message));
    },
    async close() {
      stdin.end();
      pipe.onclose?.();
    },
  };
  return pipe;
}
