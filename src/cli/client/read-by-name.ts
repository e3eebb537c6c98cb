/**
 * What a person, or a step of a pipeline, has read. Each command is a process of its own, and all of a user's on a machine are one
 * caller (src/shared/principal.ts); `run --key` is the caller of its key, wherever it runs. Such a caller has read an outcome
 * when it says so: typed again after that, the call runs; killed before that, the next command gets the outcome.
 */
import { hostname, userInfo } from "node:os";
import type { Answer } from "../../shared/operation/answer.js";
import { isFinal } from "../../shared/operation/operation.js";
import { SAYS_READ } from "../../shared/principal.js";
import type { BrokerClient } from "./broker-client.js";

/** As which caller a command asks. */
export function callerName(key?: string): string {
  return key === undefined ? `${userInfo().username} on ${hostname()}` : `key ${key}`;
}

/** The outcome was printed, or written, whole. Without this the same command gets it once more. */
export async function tellRead(client: BrokerClient, { log_id, state }: Answer): Promise<void> {
  if (log_id === undefined || state === undefined || !isFinal(state)) return;
  await client.call("get_operation_status", { log_id }, { meta: SAYS_READ }).catch(() => undefined);
}
