/** Ends a broker of this user, in order. */
import { readEndpoint } from "./broker-place.js";
import { controlBroker } from "./control.js";
import { askToEnd, connect, isGone } from "./reach-broker.js";

/** It answers open waits, and gives its Editors back. */
const END_LIMIT_MS = 20_000;

/** False if none was running. Rejects if it does not end. */
export async function endBroker(folder: string, version: string): Promise<boolean> {
  const endpoint = readEndpoint(folder);
  if (!endpoint) return false;
  const socket = await connect(endpoint);
  const asked = socket && (await controlBroker(socket, "stop", version).catch(() => undefined));
  // It cannot be reached, or did not listen. The signal has the same meaning to it.
  if (!asked && endpoint.mark !== undefined) askToEnd(endpoint);
  if (await isGone(endpoint, END_LIMIT_MS)) return true;
  throw new Error(`The broker (process ${endpoint.pid}) does not end. End it yourself, then try again.`);
}
