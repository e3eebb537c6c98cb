/**
 * The headers of a stateless request that repeat its body, for what stands between client and server. A request whose headers
 * say something else than its body is refused: what decided by the headers would have decided wrongly.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import { HEADER_MISMATCH } from "./protocol.js";

/** The parameter that `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

export interface HeaderMismatch {
  code: number;
  message: string;
}

/** What is wrong with the headers; that those of version and method agree with the body is checked where the revision is found. */
export function headerMismatch(
  headers: IncomingHttpHeaders,
  { method, params }: JSONRPCRequest,
): HeaderMismatch | undefined {
  if (headers["mcp-protocol-version"] === undefined) return mismatch("MCP-Protocol-Version is missing.");
  if (headers["mcp-method"] === undefined) return mismatch("Mcp-Method is missing.");
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const named = field === undefined ? undefined : params?.[field];
  if (typeof named !== "string") return undefined;
  const header = headers["mcp-name"];
  if (typeof header !== "string") return mismatch("Mcp-Name is missing.");
  const value = decoded(header);
  if (value === undefined) return mismatch("Mcp-Name is not valid Base64.");
  if (value !== named) return mismatch(`Mcp-Name does not say what params.${field} says.`);
  return undefined;
}

const mismatch = (what: string): HeaderMismatch => ({
  code: HEADER_MISMATCH,
  message: `The headers do not agree with the body: ${what}`,
});

const BASE64 = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Values that no header can carry are written in Base64. Undefined if that is damaged. */
function decoded(header: string): string | undefined {
  if (!header.startsWith("=?base64?")) return header;
  const encoded = BASE64.exec(header)?.[1];
  return encoded === undefined || encoded.length % 4 !== 0
    ? undefined
    : Buffer.from(encoded, "base64").toString("utf8");
}
