/** Where the HTTP gateway listens: options before configuration. */
import { addressRefused, isLoopback } from "../gateway/http.js";
import type { Config } from "../shared/config.js";
import { UsageError } from "./command.js";

export const addressArgs = {
  host: { type: "string", description: "Loopback address to listen on" },
  port: { type: "string", description: "Port to listen on; 0 takes a free one" },
} as const;

export function addressOf(
  args: { host?: string | undefined; port?: string | undefined },
  config: Config,
): { host: string; port: number } {
  const host = args.host ?? config.UNITY_BROKER_HOST;
  // Said before anything is started.
  if (!isLoopback(host)) throw addressRefused(host);
  return { host, port: args.port === undefined ? config.UNITY_BROKER_PORT : portOf(args.port) };
}

export function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`--port ${text} is not a port (0 to 65535)`);
  return port;
}
