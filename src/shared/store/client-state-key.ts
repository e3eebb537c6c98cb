/** The secret with which the gateways of one store sign what they give to clients and get back (revision-2026/confirmation.ts). */
import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import { keys } from "./keys.js";

const BYTES = 32;

/** Made by the first gateway that needs it. Read each time: a store that was emptied has another one. */
export async function clientStateKey(commands: Redis): Promise<Uint8Array> {
  const fresh = randomBytes(BYTES).toString("base64");
  await commands.set(keys.clientStateKey, fresh, "NX");
  return Buffer.from((await commands.get(keys.clientStateKey)) ?? fresh, "base64");
}
