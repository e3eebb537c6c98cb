/** What both ends of the bare BullMQ floor agree on. */
import type { RedisAddress } from "../../../../src/shared/store/connect.js";

export interface PeerSettings {
  address: RedisAddress;
}

export interface BareJob {
  call: number;
  text: string;
}

export const bareQueue = "bench-bare";
export const bareChannel = "bench-bare-done";
