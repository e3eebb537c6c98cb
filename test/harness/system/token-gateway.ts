/** An HTTP gateway that asks for tokens, and clients of its principals. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach } from "vitest";
import { createTokens, type Grants, type Tokens } from "../../../src/gateway/auth/tokens.js";
import { createHttpGateway, type HttpGatewayOptions } from "../../../src/gateway/http/http.js";
import { createHeardLog } from "../mcp/mcp.js";
import type { System, SystemOptions } from "./system.js";

export interface TokenGateway {
  system: System;
  tokens: Tokens;
  url: string;
  origin: string;
  port: number;
  /** The header of a new principal. */
  bearer(name: string, grants?: Grants): Promise<{ authorization: string }>;
  /** An MCP client by this token, which is closed behind the test. */
  connect(token: string): Promise<Client>;
}

/** Call it after `useSystem`: what is opened here closes before the system does. */
export function useTokenGateway(start: (options?: SystemOptions) => Promise<System>): {
  /** In the order in which they are closed, the last one first. */
  closers: (() => unknown)[];
  /** A token file of the test's own; the folder is removed behind it. */
  tokensFile(): string;
  open(options?: Partial<HttpGatewayOptions>, ofSystem?: Partial<SystemOptions>): Promise<TokenGateway>;
} {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const tokensFile = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "ujb-tokens-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    return join(folder, "tokens.json");
  };

  return {
    closers,
    tokensFile,
    async open(options = {}, ofSystem = {}) {
      const tokens = createTokens(tokensFile());
      const system = await start({ ...ofSystem, principals: tokens });
      const { url, close } = await createHttpGateway(
        { gateway: system.gateway, log: createHeardLog(), version: "0", auth: tokens },
        { host: "127.0.0.1", port: 0, ...options },
      );
      closers.push(close);
      const { origin, port } = new URL(url);
      return {
        ...{ system, tokens, url, origin, port: Number(port) },
        bearer: async (name, grants) => ({ authorization: `Bearer ${await tokens.create(name, grants)}` }),
        async connect(token) {
          const requestInit = { headers: { authorization: `Bearer ${token}` } };
          const client = new Client({ name: "test", version: "1" });
          await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
          closers.push(() => client.close());
          return client;
        },
      };
    },
  };
}
