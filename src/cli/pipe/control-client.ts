/** Sends a control request (status, stop, drain) to a running broker. */
import type { Socket } from "node:net";
import { type BrokerStatus, PIPE_PROTOCOL, type PipeControl, type ToPipe } from "../../shared/pipe-frames.js";
import { readFrames, writeFrame } from "./socket-line.js";

/** How long a broker may take to answer, ms. */
const ANSWER_MS = 5_000;

/** Resolves with the broker's status, then closes the connection. Rejects if it does not answer. */
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
