/** `completion/complete` of any protocol revision: what the address of a resource can have in it. */
import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker.js";
import { ARTIFACT_TEMPLATE, RESULT_TEMPLATE } from "../../results/result-uri.js";
import { EDITOR_TEMPLATE, OPERATION_TEMPLATE } from "./state-resources.js";

/** The most that the protocol allows in an answer. */
const MOST_VALUES = 100;

/** Empty where there is nothing to offer, as for a template or a prompt that is not there. */
export async function complete(
  broker: Pick<Broker, "list" | "editors">,
  principal: string,
  { ref, argument }: CompleteRequestParams,
): Promise<CompleteResult> {
  const template = ref.type === "ref/resource" ? ref.uri : "";
  const offered = await offeredIn(broker, principal, `${template} ${argument.name}`);
  const values = offered.filter((value) => value.startsWith(argument.value)).slice(0, MOST_VALUES);
  return { completion: { values } };
}

async function offeredIn(
  broker: Pick<Broker, "list" | "editors">,
  principal: string,
  place: string,
): Promise<string[]> {
  switch (place) {
    case `${RESULT_TEMPLATE} log_id`:
    case `${ARTIFACT_TEMPLATE} log_id`:
      return (await broker.list(principal, MOST_VALUES))
        .filter(({ record }) => record.resultBytes !== undefined)
        .map(({ record }) => record.logId);
    case `${OPERATION_TEMPLATE} log_id`:
      return (await broker.list(principal, MOST_VALUES)).map(({ record }) => record.logId);
    case `${EDITOR_TEMPLATE} editor`:
      return (await broker.editors(principal)).editors.map(({ profile }) => profile.editorId);
    default:
      return [];
  }
}
