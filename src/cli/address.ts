/** Where the HTTP gateway listens, and whom it admits. Options take precedence over the configuration. */

import { createServer } from "node:net";
import type { Authenticator } from "../gateway/auth/authenticator.js";
import { ensureLocalToken, withLocalToken } from "../gateway/auth/local-token.js";
import { createTokens } from "../gateway/auth/tokens.js";
import { addressRefused, isLoopback, portInUse } from "../gateway/http/loopback.js";
import { UsageError } from "./command.js";
import { ownFolders, type Settings } from "./processes/settings.js";

// The port of the HTTP gateway.

/**
 * Rejects with PORT_IN_USE where somebody listens there now, before anything is started for nothing; another may still come
 * first.
 */
async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      // What else is wrong with the address is said by who listens there.
      error.code === "EADDRINUSE" ? reject(portInUse(host, port, error)) : resolve(),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

export interface Access {
  host: string;
  port: number;
  idleMs: number;
  /** Undefined: admits everybody on this machine. */
  auth: Authenticator | undefined;
}

/** Call it before anything is started. Rejects with ADDRESS_REFUSED or PORT_IN_USE. */
export async function accessOf(
  args: { host?: string | undefined; port?: string | undefined; "insecure-local": boolean },
  settings: Settings,
): Promise<Access> {
  const { config, tokensFile, localTokenFile } = settings;
  const host = args.host ?? config.UNITY_BROKER_HOST;
  const port = args.port === undefined ? config.UNITY_BROKER_PORT : portOf(args.port);
  const idleMs = config.UNITY_BROKER_SESSION_IDLE_MINUTES * 60_000;
  const tokens = createTokens(tokensFile);
  const isPrivate = isLoopback(host);
  const isOpen = args["insecure-local"];
  if (isOpen && !isPrivate) throw new UsageError(`--insecure-local opens this machine only, not ${host}`);
  if (!isPrivate && (await tokens.list()).length === 0) throw addressRefused(host);
  await checkPort(host, port);
  // Before a token is written there.
  ownFolders(settings);
  const auth = isPrivate ? withLocalToken(tokens, await ensureLocalToken(localTokenFile)) : tokens;
  return { host, port, idleMs, auth: isOpen ? undefined : auth };
}

/** The text for the user who starts a gateway: the endpoint, whom it admits, and how to add it to a client. */
export function endpointHint(url: string, { auth, host }: Access, self: string): string {
  const add = `${self} install claude-code --http ${url}`;
  const where = `MCP endpoint: ${url}\nOperators' page: ${new URL("/operators", url).href}\n`;
  if (!auth) {
    return `${where}No token is asked for (--insecure-local): every program and user of this machine may run tools in your Editors.\nAdd it to a client, for example: ${add}`;
  }
  return isLoopback(host)
    ? `${where}Both ask for this user's token: ${self} token local\nAdd it to a client, for example:\n  ${self} token local | ${add} --token -`
    : `${where}Both ask for a token of \`${self} token create <name>\`. Add it to a client, for example:\n  ${add} --token-file <file>`;
}

export function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`--port ${text} is not a port (0 to 65535)`);
  return port;
}
