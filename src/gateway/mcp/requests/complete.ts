/** `completion/complete` of any protocol revision: the log_ids that an address of a result can have. */
import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker.js";
import { ARTIFACT_TEMPLATE, RESULT_TEMPLATE } from "../../results/result-uri.js";

/** Operations that are looked through, and the most that the protocol allows in an answer. */
const LISTED = 100;

/** Empty for everything else, as for a template or prompt that is not there. */
export async function complete(
  broker: Pick<Broker, "list">,
  principal: string,
  { ref, argument }: CompleteRequestParams,
): Promise<CompleteResult> {
  const isResult = ref.type === "ref/resource" && [RESULT_TEMPLATE, ARTIFACT_TEMPLATE].includes(ref.uri);
  if (!isResult || argument.name !== "log_id") return { completion: { values: [] } };
  const views = await broker.list(principal, LISTED);
  const values = views
    .filter(({ record }) => record.resultBytes !== undefined && record.logId.startsWith(argument.value))
    .map(({ record }) => record.logId);
  return { completion: { values, total: values.length, hasMore: false } };
}
