/** What a tool says of its own success: tests that fail are a completed call, and no success for a CI step. */
import type { Answer } from "../../shared/operation/answer.js";
import type { BrokerClient } from "./broker-client.js";

/** False if the result is an object whose `Success` is false, as of run-tests and compile. Reads no large result whole. */
export async function reportsSuccess(client: BrokerClient, answer: Answer): Promise<boolean> {
  if (answer.status !== "completed") return true;
  if (!answer.cached || answer.cache_id === undefined) return successIn(answer.result) !== false;
  const { data } = await client.call("fetch_cached_response", {
    cache_id: answer.cache_id,
    action: "filter",
    jq_filter: ".Success?",
  });
  return data !== false;
}

function successIn(result: unknown): unknown {
  return typeof result === "object" && result !== null && "Success" in result ? result.Success : undefined;
}
