/** What a process asks of a broker without being its client. */
import type { Socket } from "node:net";
import { type BrokerStatus, PIPE_PROTOCOL, type PipeControl, type ToPipe } from "../../shared/pipe/frames.js";
import { readFrames, writeFrame } from "./socket-line.js";

/** How long a broker may take to say how it is, ms. */
const ANSWER_MS = 5_000;

/** Its status as it was asked; the connection ends. Rejects if it does not answer. */
export function controlBroker(
  socket: Socket,
  ask: PipeControl["ask"],
  version: string,
  answerMs = ANSWER_MS,
): Promise<BrokerStatus> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(), answerMs);
    readFrames<ToPipe>(socket, ({ header }) => {
      if (header.kind !== "status") return;
      resolve(header);
      socket.end();
    });
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearTimeout(timer);
      reject(new Error("the broker does not answer"));
    });
    writeFrame(socket, { kind: "control", protocol: PIPE_PROTOCOL, version, ask });
  });
}
