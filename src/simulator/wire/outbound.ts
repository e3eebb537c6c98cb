/** The writing half of a connection: the frames of one turn of the event loop in one write, through the wire faults. */
import type { Socket } from "node:net";
import { encodeFrame } from "../../shared/wire/framing.js";
import type { WireFaults } from "./wire-faults.js";

/** Everything is written in the order of the calls, before the event loop waits again. */
export interface Outbound {
  send(text: string): void;
  /** Raw bytes between two frames. */
  sendRaw(bytes: Buffer): void;
  /** Closes the connection once everything sent before is written; nothing can be sent any more. */
  endAfterwards(): void;
  /** Closes the connection now. What was sent before is still handed to the system, as far as it takes it at once. */
  cut(): void;
}

/**
 * An operation that begins and ends at once is answered, begun and finished in one turn. A write for each of these
 * frames costs both ends more than the frame itself.
 */
export function createOutbound(socket: Socket, faults: WireFaults): Outbound {
  let frames: Buffer[] = [];
  let isEnding = false;
  /** Between the first frame of a turn and the write; longer only behind a fault. */
  let isLeaving = false;

  const leave = async (): Promise<void> => {
    while (frames.length > 0 && !socket.destroyed) {
      if (faults.isSilent()) await faults.spoken();
      else if (faults.pieceBytes === undefined) writeTogether();
      else await writePiece(faults.pieceBytes);
    }
    isLeaving = false;
    if (!isEnding) return;
    if (faults.isSilent()) await faults.spoken();
    socket.destroySoon();
  };
  const writeTogether = (): void => {
    // One buffer of small frames costs less than the list of them that `cork` hands on.
    if (frames.length > 0) socket.write(Buffer.concat(frames));
    frames = [];
  };
  const writePiece = async (bytes: number): Promise<void> => {
    const [frame = Buffer.alloc(0), ...others] = frames;
    socket.write(frame.subarray(0, bytes));
    const rest = frame.subarray(bytes);
    frames = rest.length > 0 ? [rest, ...others] : others;
    if (rest.length > 0) await new Promise(setImmediate);
  };
  const leaveSoon = (): void => {
    if (isLeaving) return;
    isLeaving = true;
    setImmediate(() => void leave());
  };
  const add = (bytes: Buffer): void => {
    if (isEnding || socket.destroyed) return;
    frames.push(bytes);
    leaveSoon();
  };

  return {
    send: (text) => add(encodeFrame(text)),
    sendRaw: add,
    endAfterwards() {
      isEnding = true;
      leaveSoon();
    },
    cut() {
      if (!faults.isSilent() && !socket.destroyed) writeTogether();
      socket.destroy();
    },
  };
}
