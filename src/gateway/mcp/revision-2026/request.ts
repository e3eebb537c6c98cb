/** One request of revision 2026-07-28: everything that decides about it is in it. */
import type { ClientCapabilities, Implementation, JSONRPCRequest } from "@modelcontextprotocol/server";
import type { OpenRequest } from "../request-tracker.js";
import { CAPABILITIES_KEY, CLIENT_KEY, TASKS } from "./protocol.js";

/** A request whose `_meta` has been checked (http.ts, mcp-session.ts). */
export interface StatelessRequest {
  principal: string;
  message: JSONRPCRequest;
  request: OpenRequest;
  /** The client's folders on this machine. */
  folders: readonly string[];
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: Record<string, unknown>): void;
}

/** The same, read. */
export interface ReadRequest extends StatelessRequest {
  params: Readonly<Record<string, unknown>>;
  /** What its client calls itself, which decides nothing but the form of answers. */
  client: Implementation | undefined;
  capabilities: ClientCapabilities & { extensions?: Record<string, unknown> };
  offersTasks: boolean;
}

export function readRequest(asked: StatelessRequest): ReadRequest {
  const params: Record<string, unknown> = asked.message.params ?? {};
  const meta = (params._meta ?? {}) as Record<string, unknown>;
  const capabilities = (meta[CAPABILITIES_KEY] ?? {}) as ReadRequest["capabilities"];
  const client = meta[CLIENT_KEY] as Implementation | undefined;
  return {
    ...asked,
    params,
    client,
    capabilities,
    offersTasks: capabilities.extensions?.[TASKS] !== undefined,
  };
}
