import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { isDirect, onReset } from "../../../src/gateway/mcp/http/http-exchange.js";

const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}): boolean =>
  isDirect({ socket: { remoteAddress }, headers } as Parameters<typeof isDirect>[0]);

test("a client on this machine has a connection of its own, unless a proxy says that it is between", () => {
  for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
    expect(from(address), address).toBe(true);
    for (const name of ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"])
      expect(from(address, { host: "127.0.0.1", [name]: "1" }), name).toBe(false);
  }
});

test("what comes from another machine may have come through anything", () => {
  for (const address of ["192.168.0.7", "::ffff:10.0.0.7", "2001:db8::7", undefined])
    expect(from(address), address).toBe(false);
});

test("a reset tells every answer that may have crossed with it, however many one connection has carried", () => {
  const socket = new EventEmitter() as Socket;
  const told: number[] = [];
  for (let at = 0; at < 1_000; at += 1) onReset(socket, () => void told.push(at));
  socket.emit("close", true);
  expect(told).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
});
