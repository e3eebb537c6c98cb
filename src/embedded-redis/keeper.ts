/**
 * The keeper: a separate process that shuts down the private Redis once it has been unused for a while.
 *
 * Daemons that end when idle (Gradle's, Bazel's, Nx's) do so from inside. redis-server has no such setting, the
 * last broker process may be killed and then ends nothing, and a shell script that counts clients (as pg_tmp has) would need
 * a Redis client that is not on every machine. So the process that starts the server starts this too. It loads nothing but
 * Node's own sockets: about 7 MB that it does not share with other Node processes, a third of what a Redis client
 * would take.
 *
 * A server in use is left alone: it counts clients that are connected, or were since the last look. Clients that
 * connect between the look and the end lose their connection as in a crash, and start the server again
 * (src/cli/processes/runtime.ts). Its data stays: it appends all of it to its file first.
 * If a keeper is killed, its server only keeps running. A keeper ends with its server, whatever ended that.
 *
 * At each look it also says how often the server waits for the disk, whose room has changed meanwhile (directories.ts).
 */
import { setTimeout as delay } from "node:timers/promises";
import { fsyncFor } from "./directories.js";
import { KEEPER_ORDER, type KeeperOrder } from "./keeper-start.js";
import { createPlainClient, type PlainClient } from "./plain-client.js";

/** Looks a few times per idle time, and at least once a minute, so that the shutdown is hardly late. */
const LOOKS = 4;
const LONGEST_PAUSE_MS = 60_000;

/** Resolves when the server has ended. */
async function keep(server: PlainClient, { idleMs, lastCommand }: KeeperOrder): Promise<void> {
  let seen = -1;
  let idleSince = performance.now();
  const look = async (): Promise<void> => {
    const [clients, connections] = [await clientsOf(server), await connectionsOf(server)];
    if (clients > 1 || connections !== seen) {
      seen = connections;
      idleSince = performance.now();
    } else if (performance.now() - idleSince >= idleMs) {
      if (lastCommand) await server.command(...lastCommand).catch(() => undefined);
      await server.command("SHUTDOWN");
    }
  };
  let isUp = true;
  void server.closed.then(() => {
    isUp = false;
  });
  while (isUp) {
    // A refusal (a full disk fails SHUTDOWN too) is no reason to stop looking.
    await look().catch(() => undefined);
    await server.command("CONFIG", "SET", "appendfsync", fsyncFor(".")).catch(() => undefined);
    await Promise.race([server.closed, delay(Math.min(idleMs / LOOKS, LONGEST_PAUSE_MS))]);
  }
}

/** The number of connected clients, this one included. */
async function clientsOf(server: PlainClient): Promise<number> {
  return (await server.command("CLIENT", "LIST")).trim().split("\n").length;
}

/** The number of clients that ever connected. */
async function connectionsOf(server: PlainClient): Promise<number> {
  const stats = await server.command("INFO", "stats");
  return Number(/^total_connections_received:(\d+)/m.exec(stats)?.[1]);
}

const order = JSON.parse(process.env[KEEPER_ORDER] ?? "") as KeeperOrder;
await keep(createPlainClient(order.address), order);
process.exit(0);
