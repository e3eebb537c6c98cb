/** A caller as they really are: it loses patience, comes back in a new session, and sends the same call again. */
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { isFinal, isForceNewRefused, isOutcome } from "../engine/outcomes.js";
import { drawnPause, type Random } from "../engine/random.js";
import type { ChaosIntent } from "./intent.js";
import { openVoice, type Voice, type VoiceKind } from "./voices.js";
import type { ChaosWorld } from "./world.js";

export interface Caller {
  /** Asks until it is answered; true if the answer is the outcome already. */
  begin(intent: ChaosIntent, isOver: () => boolean): Promise<boolean>;
  /** Asks until it receives the intent's outcome; gives up when `isOver` says so. */
  fulfil(intent: ChaosIntent, isOver: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** What an answer waits for at most beyond the wait that was asked for, ms. */
const PATIENCE_MS = 10_000;

export function createCaller(world: ChaosWorld, kind: VoiceKind, random: Random): Caller {
  const { account } = world;
  let voice: Voice | undefined;

  const hangUp = async (): Promise<void> => {
    const ending = voice;
    voice = undefined;
    await ending?.close().catch(() => undefined);
  };

  const say = async (
    intent: ChaosIntent,
    named: string | undefined,
    timeout = random.pick([0, 0.3, 2, 2, 5]),
  ): Promise<CallAnswer> => {
    voice ??= await openVoice(kind, world, random);
    // Some clients give up before the wait that they asked for is over.
    const patienceMs = random.chance(0.12) ? random.between(20, 800) : timeout * 1000 + PATIENCE_MS;
    const client = voice.within(patienceMs);
    if (named !== undefined) {
      const read = { log_id: named, wait: true, timeout };
      return account.ask(intent, client, "get_operation_result", read).answer;
    }
    const force = intent.supersedes === undefined ? {} : { force_new: intent.supersedes };
    const args = { ...intent.args, ...force, editor: intent.editor.id, timeout };
    return account.ask(intent, client, intent.tool, args).answer;
  };

  const cancel = async (intent: ChaosIntent, logId: string): Promise<void> => {
    intent.isCancelAsked = true;
    account.counts.calls += 1;
    const asked = voice?.within(PATIENCE_MS).ask("cancel_operation", { log_id: logId });
    await asked?.answer.catch(() => undefined);
  };

  /**
   * What it does after an answer that was no end. Who has named the operation goes on naming it: over HTTP that counts
   * as having read what was told (a known limit), so only another session may send the call once more.
   */
  const next = async (
    intent: ChaosIntent,
    reported: CallAnswer,
    named: string | undefined,
  ): Promise<string | undefined> => {
    const logId = reported.log_id;
    if (reported.status === "not_found") {
      await hangUp();
      return undefined;
    }
    // What it wanted once more the store has forgotten: it wants it, and says so without a name.
    if (intent.supersedes !== undefined && isForceNewRefused(reported)) intent.supersedes = undefined;
    if (logId === undefined || reported.status === "error") {
      await drawnPause(random.between(50, 250));
      return named;
    }
    if (intent.isToBeCancelled && !intent.isCancelAsked) {
      await cancel(intent, logId);
      return logId;
    }
    const habits = ["read", "again", "again", "elsewhere", "move"] as const;
    const habit = random.pick(kind === "stdio" ? habits.slice(0, 3) : habits);
    if (habit === "elsewhere") await hangUp();
    if (habit === "move") voice?.move();
    if (habit === "read") return logId;
    return habit === "elsewhere" ? undefined : named;
  };

  const unanswered = async (intent: ChaosIntent, error: Error): Promise<void> => {
    account.counts.unanswered += 1;
    intent.setbacks.push({ at: Date.now(), what: `${kind}: ${error.message}` });
    // A process over stdio stays for as long as it lives.
    const isGone = /ended|not found|HTTP 4|HTTP 5|closed/i.test(error.message);
    if (isGone || (kind !== "stdio" && random.chance(0.5))) await hangUp();
    await drawnPause(random.between(20, 250));
  };

  return {
    async begin(intent, isOver) {
      while (!isOver()) {
        try {
          const reported = await say(intent, undefined, 0);
          if (isOutcome(reported)) return true;
          if (reported.log_id !== undefined && !isFinal(reported)) return false;
          await drawnPause(random.between(50, 250));
        } catch (error) {
          await unanswered(intent, error as Error);
        }
      }
      return true;
    },

    async fulfil(intent, isOver) {
      let named: string | undefined;
      while (!isOver()) {
        try {
          const reported = await say(intent, named);
          const newest = isForceNewRefused(reported)
            ? (reported.newest as CallAnswer | undefined)
            : undefined;
          if (newest && isOutcome(newest)) intent.outcomes.push({ at: Date.now(), reported: newest });
          if (isOutcome(newest ?? reported)) return;
          intent.setbacks.push({ at: Date.now(), what: `${kind}: ${JSON.stringify(reported)}` });
          named = await next(intent, reported, named);
        } catch (error) {
          await unanswered(intent, error as Error);
        }
      }
    },
    close: hangUp,
  };
}
