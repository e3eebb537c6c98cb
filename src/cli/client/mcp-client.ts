/** The broker's tools over an MCP client, whatever connects it. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { resourceOf } from "../../gateway/results/result-uri.js";
import type { Answer } from "../../shared/operation/answer.js";
import { declaredCaller } from "../../shared/principal.js";
import { VERSION } from "../version.js";
import type { BrokerClient } from "./broker-client.js";

/** Waits are cut to 50 s by the broker: whatever takes longer than this is a lost connection, ms. */
const REQUEST_MS = 90_000;

/** `caller`: what this client calls itself (read-by-name.ts). Rejects with a sentence that names `where`. */
export async function connect(transport: Transport, where: string, caller: string): Promise<Client> {
  const client = new Client(
    { name: "unity-broker", version: VERSION },
    { capabilities: declaredCaller(caller) },
  );
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    throw new Error(`${where} did not answer: ${reasonOf(error as Error)}`, { cause: error });
  }
}

/** The SDK says twice what kind of error it is, and `fetch` only in its cause what failed. */
function reasonOf({ message, cause }: Error): string {
  const said = message.replace(/^(MCP error -?\d+: )+/, "");
  return message === "fetch failed" && cause instanceof Error ? cause.message || said : said;
}

export function clientOver(client: Client, close: () => Promise<void>): BrokerClient {
  return {
    close,
    async call(tool, args = {}, { onProgress, signal, limitMs = REQUEST_MS, meta, onMeta } = {}) {
      // The SDK leaves a listener on each signal that it is given.
      const own = new AbortController();
      const abort = (): void => own.abort(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) abort();
      const result = await client
        .callTool({ name: tool, arguments: args, ...(meta ? { _meta: meta } : {}) }, undefined, {
          timeout: Math.min(limitMs, REQUEST_MS),
          ...(onProgress ? { onprogress: onProgress } : {}),
          signal: own.signal,
        })
        .catch((error: Error) => {
          throw new Error(reasonOf(error), { cause: error });
        })
        .finally(() => signal?.removeEventListener("abort", abort));
      if (result._meta) onMeta?.(result._meta);
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
