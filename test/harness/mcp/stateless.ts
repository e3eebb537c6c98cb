/** Requests of revision 2026-07-28 that say what a test chooses, and the SDK's client of that revision. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { answerIn } from "./answer-in.js";
import { type Posted, post, type RpcAnswer } from "./mcp.js";

export const REVISION = "2026-07-28";
export const TASKS = "io.modelcontextprotocol/tasks";

export interface StatelessOptions {
  id?: number | string;
  capabilities?: Record<string, unknown>;
  /** In the envelope and in the header. */
  version?: string;
  /** Instead of, or beside, those that the protocol asks for; undefined leaves one out. */
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal;
}

/** A request with its envelope. */
export function statelessRequest(
  method: string,
  params: Record<string, unknown> = {},
  { id = 1, capabilities = {}, version = REVISION }: StatelessOptions = {},
) {
  const { _meta, ...rest } = params;
  return {
    jsonrpc: "2.0",
    id,
    method,
    params: {
      ...rest,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        ...(_meta as object | undefined),
      },
    },
  };
}

export function statelessHeaders(
  { method, params }: ReturnType<typeof statelessRequest>,
  { version = REVISION, headers = {} }: StatelessOptions = {},
): Record<string, string> {
  const { name, uri, taskId } = params as Record<string, unknown>;
  const named = name ?? uri ?? taskId;
  const all: Record<string, string | undefined> = {
    "mcp-protocol-version": version,
    "mcp-method": method,
    "mcp-name": typeof named === "string" ? named : undefined,
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

/** Posts one request, as a client of this revision does. */
export function ask(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  options: StatelessOptions = {},
): Promise<Posted> {
  const request = statelessRequest(method, params, options);
  return post(url, request, {
    headers: statelessHeaders(request, options),
    ...(options.signal ? { signal: options.signal } : {}),
  });
}

/** Calls a tool, and reads what comes last. */
export async function askTool(
  url: string,
  name: string,
  args: Record<string, unknown>,
  options: StatelessOptions & { params?: Record<string, unknown> } = {},
): Promise<RpcAnswer> {
  const { messages } = await ask(url, "tools/call", { name, arguments: args, ...options.params }, options);
  const last = messages.at(-1);
  if (!last) throw new Error("nothing was answered");
  return last;
}

/** The same, as the broker's answer. */
export async function answerTo(
  url: string,
  name: string,
  args: Record<string, unknown>,
  options: StatelessOptions & { params?: Record<string, unknown> } = {},
): Promise<Answer> {
  return answerIn((await askTool(url, name, args, options)).result);
}

/** The SDK's client, which speaks this revision and no other. */
export function statelessClient(options: ClientOptions = {}): Client {
  return new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: { pin: REVISION } }, ...options },
  );
}

export async function connectStateless(
  url: string,
  options: ClientOptions = {},
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = statelessClient(options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}
