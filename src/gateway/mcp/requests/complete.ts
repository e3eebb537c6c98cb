/** `completion/complete` of any protocol revision: what the address of a resource, and an argument of a prompt, can be. */
import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker.js";
import { ARTIFACT_TEMPLATE, RESULT_TEMPLATE } from "../../results/result-uri.js";
import { PROMPTS } from "../prompts.js";
import { EDITOR_TEMPLATE, OPERATION_TEMPLATE } from "./state-resources.js";

type Asked = Pick<Broker, "list" | "editors" | "tools">;

/** The most that the protocol allows in an answer. */
const MOST_VALUES = 100;

/** Empty where there is nothing to offer, as for a template or a prompt that is not there. */
export async function complete(
  { broker }: { broker: Asked },
  principal: string,
  { ref, argument }: CompleteRequestParams,
): Promise<CompleteResult> {
  const offered =
    ref.type === "ref/resource"
      ? await offeredIn(broker, principal, `${ref.uri} ${argument.name}`)
      : await offeredTo(broker, principal, ref.name, argument.name);
  const values = offered.filter((value) => value.startsWith(argument.value)).slice(0, MOST_VALUES);
  return { completion: { values } };
}

async function offeredIn(broker: Asked, principal: string, place: string): Promise<string[]> {
  switch (place) {
    case `${RESULT_TEMPLATE} log_id`:
    case `${ARTIFACT_TEMPLATE} log_id`:
      return (await broker.list(principal, MOST_VALUES))
        .filter(({ record }) => record.resultBytes !== undefined)
        .map(({ record }) => record.logId);
    case `${OPERATION_TEMPLATE} log_id`:
      return logIds(broker, principal);
    case `${EDITOR_TEMPLATE} editor`:
      return (await broker.editors(principal)).editors.map(({ profile }) => profile.editorId);
    default:
      return [];
  }
}

async function offeredTo(
  broker: Asked,
  principal: string,
  prompt: string,
  argument: string,
): Promise<string[]> {
  const known = PROMPTS.find(({ name }) => name === prompt)?.arguments ?? [];
  if (!known.some(({ name }) => name === argument)) return [];
  if (argument === "log_id") return logIds(broker, principal);
  return argument === "tool" ? (await broker.tools(principal)).map(({ name }) => name) : [];
}

const logIds = async (broker: Asked, principal: string): Promise<string[]> =>
  (await broker.list(principal, MOST_VALUES)).map(({ record }) => record.logId);
