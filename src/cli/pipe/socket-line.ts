/** Frames over one connection of the local socket. */
import type { Socket } from "node:net";
import { type Frame, frameLine, readFrame, type ToBroker, type ToPipe } from "../../shared/pipe-frames.js";
import { createLineAssembler } from "../../shared/wire/rpc.js";

/** Longest line, UTF-16 units: a message of MCP has 8 MiB at most, one of a client 10. */
const LONGEST = 16 * 1024 * 1024;

/** Hands on what is read, in order; a line that is no frame, or too long, ends the connection. */
export function readFrames<Header extends ToBroker | ToPipe>(
  socket: Socket,
  heard: (frame: Frame<Header>) => void,
): void {
  const lines = createLineAssembler(LONGEST);
  socket.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk)) {
      const frame = line === undefined ? undefined : readFrame<Header>(line);
      if (!frame) {
        socket.destroy();
        return;
      }
      heard(frame);
    }
  });
}

export function writeFrame(socket: Socket, header: ToBroker | ToPipe, text?: string): void {
  if (socket.writable) socket.write(frameLine(header, text));
}
