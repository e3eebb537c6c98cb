/** After the storm: every caller that asks, by log_id or by the same call in a new session, gets the outcome again. */
import { type CallAnswer, openHttpClient } from "../../../harness/processes/process-clients.js";
import { hasBegun, isForceNewRefused, isOutcome } from "../../engine/outcomes.js";
import type { ChaosIntent } from "../intent.js";
import type { ChaosWorld } from "../world.js";
import { storeWasLost } from "./events.js";
import { type ChaosViolation, endOf, mayForget } from "./verdict.js";

const AT_ONCE = 8;
const WAIT_SECONDS = 20;

export async function readBack(
  world: ChaosWorld,
  intents: readonly ChaosIntent[],
): Promise<ChaosViolation[]> {
  const violations: ChaosViolation[] = [];
  const left = intents.filter(({ outcomes, isRead }) => outcomes.length > 0 && !isRead);
  const readers = Array.from({ length: AT_ONCE }, async (_, number) => {
    const gateway = world.gateways[number % world.gateways.length];
    if (!gateway) return;
    const open = async (): Promise<Reader> => world.account.listener.to(await openHttpClient(gateway.url));
    const reader = await open();
    for (let intent = left.pop(); intent; intent = left.pop()) {
      const mayBeGone = storeWasLost(world.events, intent.askedAt);
      const isIntendedAgain = intents.some(
        ({ supersedes }) => supersedes !== undefined && intent.logIds.has(supersedes),
      );
      const fault = await readOne(world, { reader, open }, intent, { mayBeGone, isIntendedAgain }).catch(
        (error: Error) => error.message,
      );
      if (fault !== undefined) violations.push({ what: fault, intent });
    }
    await reader.close();
  });
  await Promise.all(readers);
  return violations;
}

type Reader = Awaited<ReturnType<typeof openHttpClient>>;

async function readOne(
  world: ChaosWorld,
  { reader, open }: { reader: Reader; open(): Promise<Reader> },
  intent: ChaosIntent,
  { mayBeGone, isIntendedAgain }: { mayBeGone: boolean; isIntendedAgain: boolean },
): Promise<string | undefined> {
  const heard = intent.outcomes.at(-1)?.reported as CallAnswer;
  const logId = heard.log_id ?? "";
  const read = await reader.call("get_operation_result", {
    log_id: logId,
    wait: true,
    timeout: WAIT_SECONDS,
  });
  // A store of the past has it in the queue, unsent, and knows neither its end nor who had cancelled it.
  if (mayBeGone && !hasBegun(heard)) return undefined;
  if (read.status !== "not_found") return differs(world, intent, heard, read);
  if (!mayBeGone) return `${logId} is not found any more`;
  // The store has forgotten it.
  if (world.witness.wasRevoked(logId)) return undefined;
  // The same call is another run of it.
  if (intent.isRepeatable) return undefined;
  // The same call means the newest run of it; that one is read back by its own intent.
  if (isIntendedAgain) return undefined;
  const force = intent.supersedes === undefined ? {} : { force_new: intent.supersedes };
  const again = { ...intent.args, ...force, editor: intent.editor.id, timeout: WAIT_SECONDS };
  // Not by the reader: it may have named a deliberate second run of this call, and then means a third by it (▲7).
  const caller = await open();
  const reported = await caller.call(intent.tool, again);
  await caller.close();
  if (isForceNewRefused(reported)) return undefined;
  if (reported.log_id !== undefined) intent.logIds.add(reported.log_id);
  return differs(world, intent, heard, reported);
}

function differs(
  world: ChaosWorld,
  intent: ChaosIntent,
  heard: CallAnswer,
  read: CallAnswer,
): string | undefined {
  if (!isOutcome(read)) return `it has not ended: ${JSON.stringify(read)}`;
  if (endOf(heard) === endOf(read)) return undefined;
  if (read.error_code === "OUTCOME_UNKNOWN" && mayForget(world, intent)) return undefined;
  // A store of the past knows nothing of its end, and it may never have begun.
  if (!hasBegun(heard) && !hasBegun(read)) return undefined;
  const why = read.error === undefined ? "" : `: ${read.error_type}, ${read.error}`;
  return `it was told ${endOf(heard)} and is read as ${endOf(read)}${why} (${read.log_id})`;
}
