/**
 * The ids of a server's own requests to its client. The SDK counts them from 0 in each server, and a session has several
 * in its life, or at once: a yes to the question of one must not be taken for a yes to another's. (Also, the SDK's client
 * ignores that request 0 is taken back, typescript-sdk#2283.)
 */
import { randomUUID } from "node:crypto";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

export interface OwnIds {
  /** The message with ids as they travel. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage;
  /** The message with ids as the SDK knows them; undefined: it answers a request that this server did not make. */
  incoming(message: JSONRPCMessage): JSONRPCMessage | undefined;
}

export function createOwnIds(): OwnIds {
  const prefix = `${randomUUID()}:`;
  return {
    outgoing(message) {
      if (!("method" in message)) return message;
      if ("id" in message) return { ...message, id: `${prefix}${message.id}` };
      const requestId = message.params?.requestId;
      if (message.method !== "notifications/cancelled" || requestId === undefined) return message;
      return { ...message, params: { ...message.params, requestId: `${prefix}${String(requestId)}` } };
    },

    incoming(message) {
      if ("method" in message) return message;
      const id = String(message.id ?? "");
      return id.startsWith(prefix) ? { ...message, id: Number(id.slice(prefix.length)) } : undefined;
    },
  };
}
