/**
 * Which requests to change the protocol a gateway takes: those for a WebSocket. Any other is answered as if it did not ask
 * (RFC 9110, 7.8). Some clients, such as Java's own, ask with their first request for HTTP/2; Node would not read its body.
 */
import { EventEmitter } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

/** Emits `upgrade` for WebSockets only. */
export function webSocketUpgrades(server: Server): EventEmitter {
  const taken = new EventEmitter();
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.trim().toLowerCase() === "websocket" && request.method === "GET") {
      taken.emit("upgrade", request, socket, head);
      return;
    }
    // Read again from its first byte.
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), "latin1"), head]));
    server.emit("connection", socket);
  });
  return taken;
}

/** What only says that the protocol is to change. */
const OF_UPGRADES = ["upgrade", "connection", "http2-settings"];

function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  // A connection is read again once, so that what listens to it does not grow.
  const lines = [`${method} ${url} HTTP/${httpVersion}`, "connection: close"];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!OF_UPGRADES.includes(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}
