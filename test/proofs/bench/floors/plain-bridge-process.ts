/**
 * A bridge as others are built: an MCP server over stdio by the official SDK that forwards each call to the Editor's socket and
 * answers with what comes back. No record, no ledger, no queue: what a call costs if nothing needs to be remembered.
 * `echo` is answered by the server itself.
 */
import { connect } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createFrameParser, encodeFrame, parseRpc, rpcRequest } from "../shipped.js";

const port = Number(process.argv[2]);
const socket = connect({ host: "127.0.0.1", port, noDelay: true });
const parser = createFrameParser(1_000_000);
const waiting = new Map<unknown, (result: unknown) => void>();
let lastId = 0;
socket.on("data", (chunk) => {
  parser.push(chunk);
  for (let frame = parser.next(); frame?.kind === "message"; frame = parser.next()) {
    const message = parseRpc(frame.text);
    if (message.kind === "result") waiting.get(message.id)?.(message.result);
  }
});

const forwarded = (params: object): Promise<unknown> =>
  new Promise((resolve) => {
    lastId += 1;
    waiting.set(lastId, resolve);
    socket.write(encodeFrame(rpcRequest(lastId, "execute-tool", params)));
  });

const server = new Server({ name: "plain-bridge", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const result = params.name === "echo" ? params.arguments : await forwarded(params);
  const answer = { status: "completed", result };
  return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: answer };
});
await server.connect(new StdioServerTransport());
process.stdin.once("end", () => process.exit(0));
