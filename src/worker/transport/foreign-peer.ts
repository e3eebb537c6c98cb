/** Who listens at the other end of a connection. */
import type { Socket } from "node:net";
import { endOf } from "../../shared/machine/connection-filter.js";
import { isAnotherUsersServer } from "../../shared/machine/peer-owner.js";

/** Whether it is another user of this machine. A worker that runs as root may serve other users' Editors. */
export function isForeignPeer(socket: Socket): boolean {
  return process.getuid?.() !== 0 && isAnotherUsersServer(endOf(socket, "local"), endOf(socket, "remote"));
}
