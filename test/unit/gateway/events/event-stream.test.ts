/** A client that reads slowly delays its own events; it loses none, and they wait where they are kept. */
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { openEventStream } from "../../../../src/gateway/events/event-stream.js";
import type { LiveEvent } from "../../../../src/gateway/events/live-event.js";
import { eventually } from "../../../harness/eventually.js";

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

const MANY = 30;
const data = "x".repeat(1_000_000);

test("what a client has not read yet is not even asked for, and arrives once it reads", async () => {
  let made = 0;
  async function* events(): AsyncGenerator<LiveEvent> {
    for (; made < MANY; made += 1) yield { event: "log", id: String(made), data };
  }
  const server = createServer((_request, response) => {
    void openEventStream(response, new AbortController().signal, { keepAliveMs: 5 }).write(events());
  }).listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const asked = get({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  closers.push(() => asked.destroy());
  const [answered] = (await once(asked, "response")) as [IncomingMessage];
  await eventually(() => made > 2, "some events");
  // It reads nothing yet: what the connection itself holds is all that was taken.
  expect(made).toBeLessThan(MANY);
  const ids = (await text(answered)).match(/^id: .*$/gm);
  expect([...new Set(ids)]).toEqual(Array.from({ length: MANY }, (_, at) => `id: ${at}`));
});
