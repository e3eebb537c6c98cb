import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { watchExchange } from "../../../src/gateway/mcp/http/http-exchange.js";

test.each([
  ["as soon as that is read", (answer: () => void) => answer()],
  ["a turn later", (answer: () => void) => setImmediate(answer)],
])("an answer to a client that has closed its side is not written: %s", async (_, soon) => {
  const exchanges: Promise<boolean>[] = [];
  const server = createServer(({ socket }, response) => {
    exchanges.push(watchExchange(response).written);
    socket.prependOnceListener("end", () => soon(() => response.end("{}")));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.end("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(client.resume(), "close");
  await expect.poll(() => exchanges.length).toBe(1);
  expect(await exchanges[0]).toBe(false);
});

test("an answer that its client reads before it closes is written", async () => {
  const exchanges: Promise<boolean>[] = [];
  const server = createServer((_, response) => {
    exchanges.push(watchExchange(response).written);
    response.end("{}");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(client, "data");
  client.end();
  expect(await exchanges[0]).toBe(true);
});
