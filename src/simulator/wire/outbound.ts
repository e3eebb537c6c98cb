/** The writing half of a connection: one frame at a time, through the wire faults. */
import type { Socket } from "node:net";
import { encodeFrame } from "../../shared/wire/framing.js";
import type { WireFaults } from "./wire-faults.js";

export interface Outbound {
  send(text: string): void;
  /** Raw bytes between two frames. */
  sendRaw(bytes: Buffer): void;
  /** Closes the connection once everything sent before is written. */
  endAfterwards(): void;
}

export function createOutbound(socket: Socket, faults: WireFaults): Outbound {
  const queue: (Buffer | "end")[] = [];
  let pumping = false;

  const pump = async (): Promise<void> => {
    if (pumping) return;
    pumping = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (faults.isSilent()) await faults.spoken();
      if (socket.destroyed) break;
      if (next === "end") socket.destroySoon();
      else await write(next);
    }
    pumping = false;
  };
  const write = async (bytes: Buffer): Promise<void> => {
    const size = faults.pieceBytes ?? bytes.length;
    for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
      if (at > 0) await new Promise(setImmediate);
      if (faults.isSilent()) await faults.spoken();
      socket.write(bytes.subarray(at, at + size));
    }
  };
  const add = (item: Buffer | "end"): void => {
    queue.push(item);
    void pump();
  };

  return {
    send: (text) => add(encodeFrame(text)),
    sendRaw: add,
    endAfterwards: () => add("end"),
  };
}
