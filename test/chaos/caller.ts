/** A caller as they really are: it loses patience, comes back in a new session, and sends the same call again. */
import type { Told } from "../harness/process-clients.js";
import type { Random } from "../never-twice/random.js";
import { drawnPause } from "../never-twice/scenario.js";
import { openVoice, type Voice, type VoiceKind } from "./voices.js";
import type { Wish } from "./wish.js";
import type { ChaosWorld } from "./world.js";

export interface CallTally {
  /** Tool calls and reads, with those that nobody answered. */
  calls: number;
  joined: number;
  replayed: number;
  unanswered: number;
}

interface Request {
  tool: string;
  args: Record<string, unknown>;
}

export interface Caller {
  /** Asks until it is told how the wish ended; gives up when `isOver` says so. */
  fulfil(wish: Wish, isOver: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** What an answer waits for at most beyond the wait that was asked for, ms. */
const PATIENCE_MS = 10_000;
/** Outcomes; every other error is about the call and not about the operation. */
const ENDS = new Set(["TOOL_FAILED", "EDITOR_REFUSED", "OUTCOME_UNKNOWN", "EXPIRED"]);

export function isEnd({ status, error_code }: Told): boolean {
  return (
    status === "completed" || status === "cancelled" || (status === "error" && ENDS.has(error_code ?? ""))
  );
}

/** ▲8 The store does not know the operation that it names; the refusal shows the newest outcome of the call. */
export function isForceNewRefused({ error_code, faults }: Told): boolean {
  return error_code === "INVALID_ARGUMENTS" && JSON.stringify(faults ?? "").includes("/force_new");
}

export function createCaller(world: ChaosWorld, kind: VoiceKind, random: Random, tally: CallTally): Caller {
  let voice: Voice | undefined;

  const hangUp = async (): Promise<void> => {
    const ending = voice;
    voice = undefined;
    await ending?.close().catch(() => undefined);
  };

  const say = async (wish: Wish, named: string | undefined): Promise<Told> => {
    voice ??= await openVoice(kind, world, random);
    // Some clients give up before the wait that they asked for is over.
    const timeout = random.pick([0, 0.3, 2, 2, 5]);
    const patienceMs = random.chance(0.12) ? random.between(20, 800) : timeout * 1000 + PATIENCE_MS;
    tally.calls += 1;
    const { tool, args } = named === undefined ? callOf(wish, timeout) : readOf(named, timeout);
    const note = world.listener.asks(`request ${tally.calls}`, tool, args);
    const told = await voice.call(tool, args, patienceMs);
    note(told);
    return told;
  };

  const callOf = (wish: Wish, timeout: number): Request => {
    wish.sent += 1;
    const force = wish.supersedes === undefined ? {} : { force_new: wish.supersedes };
    return { tool: wish.tool, args: { ...wish.args, ...force, editor: wish.editor.id, timeout } };
  };

  const readOf = (logId: string, timeout: number): Request => ({
    tool: "get_operation_result",
    args: { log_id: logId, wait: true, timeout },
  });

  const cancel = async (wish: Wish, logId: string): Promise<void> => {
    wish.isCancelAsked = true;
    tally.calls += 1;
    await voice?.call("cancel_operation", { log_id: logId }, PATIENCE_MS).catch(() => undefined);
  };

  /**
   * What it does after an answer that was no end. Who has named the operation goes on naming it: over HTTP that counts
   * as having read what was told (a known limit), so only another session may send the call once more.
   */
  const next = async (wish: Wish, told: Told, named: string | undefined): Promise<string | undefined> => {
    const logId = told.log_id;
    if (told.status === "not_found") {
      await hangUp();
      return undefined;
    }
    // What it wanted once more the store has forgotten: it wants it, and says so without a name.
    if (wish.supersedes !== undefined && isForceNewRefused(told)) wish.supersedes = undefined;
    if (logId === undefined || told.status === "error") {
      await drawnPause(random.between(50, 250));
      return named;
    }
    if (wish.isToBeCancelled && !wish.isCancelAsked) {
      await cancel(wish, logId);
      return logId;
    }
    const habits = ["read", "again", "again", "elsewhere", "move"] as const;
    const habit = random.pick(kind === "stdio" ? habits.slice(0, 3) : habits);
    if (habit === "elsewhere") await hangUp();
    if (habit === "move") voice?.move();
    if (habit === "read") return logId;
    return habit === "elsewhere" ? undefined : named;
  };

  return {
    async fulfil(wish, isOver) {
      let named: string | undefined;
      while (!isOver()) {
        try {
          const told = await say(wish, named);
          const newest = isForceNewRefused(told) ? (told.newest as Told | undefined) : undefined;
          if (newest && isEnd(newest)) {
            wish.told.push({ at: Date.now(), told: newest });
            return;
          }
          if (told.log_id !== undefined && told.status !== "not_found") wish.logIds.add(told.log_id);
          if (told.deduplicated) tally[isEnd(told) ? "replayed" : "joined"] += 1;
          if (isEnd(told)) {
            wish.told.push({ at: Date.now(), told });
            return;
          }
          wish.lastError = JSON.stringify(told);
          named = await next(wish, told, named);
        } catch (error) {
          tally.unanswered += 1;
          wish.lastError = (error as Error).message;
          // A process over stdio stays for as long as it lives.
          const isGone = /ended|not found|HTTP 4|HTTP 5|closed/i.test(wish.lastError);
          if (isGone || (kind !== "stdio" && random.chance(0.5))) await hangUp();
          await drawnPause(random.between(20, 250));
        }
      }
    },
    close: hangUp,
  };
}
