/** After the storm: whoever asks, by log_id or by the same call in a new session, is told the outcome again. */
import { openHttpClient, type Told } from "../harness/process-clients.js";
import { isEnd, isForceNewRefused } from "./caller.js";
import { storeWasLost } from "./events.js";
import { endOf, hasBegun, mayForget, type Violation } from "./verdict.js";
import type { Wish } from "./wish.js";
import type { ChaosWorld } from "./world.js";

const AT_ONCE = 8;
const WAIT_SECONDS = 20;

export async function readBack(world: ChaosWorld, wishes: readonly Wish[]): Promise<Violation[]> {
  const violations: Violation[] = [];
  const left = wishes.filter(({ told, isRead }) => told.length > 0 && !isRead);
  const readers = Array.from({ length: AT_ONCE }, async (_, number) => {
    const gateway = world.gateways[number % world.gateways.length];
    if (!gateway) return;
    const open = async (): Promise<Reader> =>
      world.listener.to(await openHttpClient(() => world.urlOf(gateway)));
    const reader = await open();
    for (let wish = left.pop(); wish; wish = left.pop()) {
      const mayBeGone = storeWasLost(world.events, wish.askedAt);
      const isWishedAgain = wishes.some(
        ({ supersedes }) => supersedes !== undefined && wish.logIds.has(supersedes),
      );
      const fault = await readOne(world, { reader, open }, wish, { mayBeGone, isWishedAgain }).catch(
        (error: Error) => error.message,
      );
      if (fault !== undefined) violations.push({ what: fault, wish });
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
  wish: Wish,
  { mayBeGone, isWishedAgain }: { mayBeGone: boolean; isWishedAgain: boolean },
): Promise<string | undefined> {
  const heard = wish.told.at(-1)?.told as Told;
  const logId = heard.log_id ?? "";
  const read = await reader.call("get_operation_result", {
    log_id: logId,
    wait: true,
    timeout: WAIT_SECONDS,
  });
  // A store of the past has it in the queue, unsent, and knows neither its end nor who had cancelled it.
  if (mayBeGone && !hasBegun(heard)) return undefined;
  if (read.status !== "not_found") return differs(world, wish, heard, read);
  if (!mayBeGone) return `${logId} is not found any more`;
  // The store has forgotten it.
  if (world.witness.wasRevoked(logId)) return undefined;
  // The same call is another run of it.
  if (wish.isRepeatable) return undefined;
  // The same call means the newest run of it; that one is read back by its own wish.
  if (isWishedAgain) return undefined;
  const force = wish.supersedes === undefined ? {} : { force_new: wish.supersedes };
  const again = { ...wish.args, ...force, editor: wish.editor.id, timeout: WAIT_SECONDS };
  // Not by the reader: it may have named a deliberate second run of this call, and then means a third by it (▲7).
  const caller = await open();
  const told = await caller.call(wish.tool, again);
  await caller.close();
  if (isForceNewRefused(told)) return undefined;
  if (told.log_id !== undefined) wish.logIds.add(told.log_id);
  return differs(world, wish, heard, told);
}

function differs(world: ChaosWorld, wish: Wish, heard: Told, read: Told): string | undefined {
  if (!isEnd(read)) return `it has not ended: ${JSON.stringify(read)}`;
  if (endOf(heard) === endOf(read)) return undefined;
  if (read.error_code === "OUTCOME_UNKNOWN" && mayForget(world, wish)) return undefined;
  // A store of the past knows nothing of its end, and it may never have begun.
  if (!hasBegun(heard) && !hasBegun(read)) return undefined;
  const why = read.error === undefined ? "" : `: ${read.error_type}, ${read.error}`;
  return `it was told ${endOf(heard)} and is read as ${endOf(read)}${why} (${read.log_id})`;
}
