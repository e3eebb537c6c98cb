/** How to recognise a uLoop bridge, and the parts of its error answers (docs/reference/protocol.md, "Plain Editors"). */
import { RPC_INTERNAL_ERROR, RPC_UNKNOWN_METHOD, type RpcError } from "./rpc.js";

/**
 * Whether this answer to `bridge/hello` means that the method does not exist. A plain bridge may answer with the code, or
 * with its one internal error and a text; some refuse every name that they do not know by policy.
 */
export function knowsNoHello({ code, message, data }: Pick<RpcError, "code" | "message" | "data">): boolean {
  if (code === RPC_UNKNOWN_METHOD) return true;
  if (code !== RPC_INTERNAL_ERROR) return false;
  const { type, command, texts } = detailsOf(message, data);
  if (type === "security_blocked") return command === "bridge/hello";
  const text = texts.join(" ");
  return text.includes("bridge/hello") && /unknown|not found|no such/i.test(text);
}

export function detailsOf(
  message: string,
  data: unknown,
): { type?: unknown; command?: unknown; texts: string[] } {
  const said = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const texts = [message, said.message, said.reason].filter((part) => typeof part === "string");
  return { type: said.type, command: said.command, texts };
}
