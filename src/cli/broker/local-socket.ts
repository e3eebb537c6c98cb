/** Where a broker listens for the pipes of this user's clients, and for nobody else. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import type { Environment } from "../../embedded-redis/directories.js";
import { makeSocketPath, removeSocket } from "../../embedded-redis/run-directory.js";
import { identify } from "../../shared/machine/living-process.js";
import { removeEndpoint, writeEndpoint } from "../pipe/broker-place.js";

export interface LocalSocket {
  /** Accepts nobody any more, and is found by nobody; the connections stay. */
  close(): Promise<void>;
}

/**
 * Listens, and tells in the broker's folder where. Call it with the claim to serve held: what is left at its address is
 * of a broker that has ended.
 */
export async function listen(
  { folder, env, version }: { folder: string; env: Environment; version: string },
  onConnection: (socket: Socket) => void,
): Promise<LocalSocket> {
  const socket = socketPath(folder, env);
  const server = createServer(onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  // One connection that cannot be accepted (too many open files) is no reason to end the others.
  server.on("error", () => undefined);
  writeEndpoint(folder, { pid: process.pid, mark: identify(process.pid)?.mark, socket, version });
  return {
    close() {
      removeEndpoint(folder, process.pid);
      // Waits for the connections; closing the last one calls back.
      server.close();
      if (process.platform !== "win32") removeSocket(socket);
      return Promise.resolve();
    },
  };
}

function socketPath(folder: string, env: Environment): string {
  // Its directory keeps others out of a unix socket. A pipe of Windows has none: there its name is the secret, which stands
  // in the endpoint file alone, and the system's default lets no other user write to it.
  if (process.platform === "win32") return `\\\\.\\pipe\\ujb-${randomBytes(16).toString("hex")}`;
  const path = makeSocketPath(folder, env, tmpdir(), "broker.sock");
  rmSync(path, { force: true });
  return path;
}
