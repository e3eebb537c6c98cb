/**
 * The ids of a server's own requests to its client. The SDK counts them from 0 in each server, and a session may have
 * several servers, one after another or at once: an answer to one server's question must not reach another's. (The SDK's
 * client also ignores the cancellation of request 0, typescript-sdk#2283.)
 */
import { randomUUID } from "node:crypto";
import type { JSONRPCMessage, JSONRPCResponse } from "@modelcontextprotocol/server";

export interface OwnIds {
  /** The message with ids as they are sent. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage;
  /** The message with ids as the SDK knows them; undefined if it answers a request that this server did not make. */
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
      const own = id.startsWith(prefix) ? id.slice(prefix.length) : "";
      // Digits only: Number("") is 0.
      return /^\d+$/.test(own) ? { ...withoutTask(message), id: Number(own) } : undefined;
    },
  };
}

/** None of our requests asks for a task, but the SDK remembers every task named in an answer for the whole session. */
function withoutTask<T extends JSONRPCResponse>(message: T): T {
  if (!("result" in message) || !isObject(message.result)) return message;
  const { task: _, ...result } = message.result;
  return { ...message, result };
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
