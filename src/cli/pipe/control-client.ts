/** Sends a control request (status, stop, drain) to a running broker. */

import type { Socket } from "node:net";
import { type BrokerStatus, PIPE_PROTOCOL, type PipeControl, type ToPipe } from "../../shared/pipe/frames.js";
import { readEndpoint } from "./broker-place.js";
import { connect, isGone, signal } from "./reach-broker.js";
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

// Ends a broker of this user: in order if it answers.

/** It answers open waits, and gives its Editors back. */
const END_LIMIT_MS = 20_000;

interface EndLimits {
  /** How long it may take to say that it ends, ms. */
  answerMs?: number;
  /** How long one that did not say so may take to obey a signal, ms. */
  signalMs?: number;
}

/** `killed`: it neither answered nor obeyed. Rejects if it does not end. */
export async function endBroker(
  folder: string,
  version: string,
  { answerMs, signalMs = 5_000 }: EndLimits = {},
): Promise<"none" | "ended" | "killed"> {
  const endpoint = readEndpoint(folder);
  if (!endpoint) return "none";
  const socket = await connect(endpoint);
  const asked = socket && (await controlBroker(socket, "stop", version, answerMs).catch(() => undefined));
  // It cannot be reached, or does not listen: it may be stopped. Without a mark it may be a stranger with the same id.
  if (!asked && endpoint.mark !== undefined) {
    signal(endpoint, "SIGTERM");
    if (await isGone(endpoint, signalMs)) return "ended";
    signal(endpoint, "SIGKILL");
  }
  if (await isGone(endpoint, END_LIMIT_MS)) return asked ? "ended" : "killed";
  throw new Error(`The broker (process ${endpoint.pid}) does not end. End it yourself, then try again.`);
}
