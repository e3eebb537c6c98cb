/** Ends a broker of this user: in order if it answers. */
import { readEndpoint } from "./broker-place.js";
import { controlBroker } from "./control-client.js";
import { connect, isGone, signal } from "./reach-broker.js";

/** It answers open waits, and gives its Editors back. */
const END_LIMIT_MS = 20_000;

export interface EndLimits {
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
