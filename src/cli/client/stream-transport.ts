/** A client's end of MCP over two streams in this process. */
import type { PassThrough } from "node:stream";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

/** `stdin` and `stdout` are the server's. */
export function createStreamTransport({
  stdin,
  stdout,
}: {
  stdin: PassThrough;
  stdout: PassThrough;
}): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      stdout.on("data", (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
    },
    async send(message) {
      stdin.write(serializeMessage(message));
    },
    async close() {
      stdin.end();
      transport.onclose?.();
    },
  };
  return transport;
}
