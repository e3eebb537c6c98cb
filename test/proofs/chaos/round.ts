/**
 * One round: callers want things while the storm blows; then everything is healed, everything ends, and it is read
 * back. A round loses ledgers or stores, never both: what both have lost, nothing remembers (design §8).
 */
import { until } from "../../harness/processes/processes.js";
import { faultsOfTimes } from "../../harness/system/record-times.js";
import { allEnded } from "../engine/judge/leftovers.js";
import { hasBegun } from "../engine/outcomes.js";
import { createRandom, drawnPause, type Random } from "../engine/random.js";
import { type Caller, createCaller } from "./caller.js";
import type { Fault } from "./faults/fault.js";
import { startStorm } from "./faults/storm.js";
import { type ChaosIntent, drawIntent, intendAgain } from "./intent.js";
import { storeWasLost } from "./judge/events.js";
import { readBack } from "./judge/read-back.js";
import type { ChaosViolation } from "./judge/verdict.js";
import type { VoiceKind } from "./voices.js";
import type { ChaosWorld } from "./world.js";

export interface RoundOptions {
  seed: number;
  faults: readonly Fault[];
  operations: number;
  seconds: number;
  callers: number;
  faultEveryMs: number;
}

/** After the storm every caller must have its outcome within this time. */
const CALM_MS = 90_000;
const COPY_EVERY_MS = 4_000;

export async function playRound(world: ChaosWorld, options: RoundOptions): Promise<ChaosViolation[]> {
  const { intents } = world.account;
  const first = intents.length;
  const stormOver = performance.now() + options.seconds * 1000;
  let deadline = stormOver + CALM_MS;
  const isOver = (): boolean => performance.now() > deadline;
  const mayIntent = (): boolean =>
    performance.now() < stormOver && intents.length - first < options.operations;

  const storm = startStorm(world, options.faults, createRandom(options.seed), {
    everyMs: options.faultEveryMs,
  });
  const care = takeCare(world, createRandom(options.seed + 1));
  const callers = Array.from({ length: options.callers }, (_, number) =>
    work(world, { ...habitsOf(number, options.seed), mayIntent, isOver }),
  );
  await Promise.race([
    Promise.all(callers),
    until("the storm is over", () => !mayIntent(), options.seconds * 2000),
  ]);
  await storm.end();
  deadline = performance.now() + CALM_MS;
  await Promise.all(callers);
  try {
    const editors = world.editors
      .filter(({ plain }) => !plain)
      .map((editor) => ({ editorId: editor.id, do: editor.do }));
    await allEnded({ hand: world.hand, editors, storeWasLost: storeWasLost(world.events) });
    const disorder = (await faultsOfTimes(world.hand)).map((fault) => ({
      what: `times: ${fault}`,
      intent: undefined,
    }));
    return [...(await readBack(world, intents.slice(first))), ...disorder];
  } catch (error) {
    return [{ what: `${(error as Error).message}\n${world.processes.logs()}`, intent: undefined }];
  } finally {
    await care.end();
  }
}

/** Processes over stdio are heavy: one caller in twelve. */
function habitsOf(number: number, seed: number): { kind: VoiceKind; random: Random } {
  const kinds: VoiceKind[] = ["official client", "plain HTTP", "behind a proxy"];
  const kind = number % 12 === 3 ? "stdio" : (kinds[number % 3] ?? "plain HTTP");
  return { kind, random: createRandom(seed * 1000 + number) };
}

interface Work {
  kind: VoiceKind;
  random: Random;
  mayIntent(): boolean;
  isOver(): boolean;
}

/** One caller's day: one intent after the other, some of them shared, some meant once more. */
async function work(world: ChaosWorld, day: Work): Promise<void> {
  const { kind, random } = day;
  const caller = createCaller(world, kind, random);
  const other = createCaller(world, "plain HTTP", createRandom(random.whole(0, 1e9)));
  const ask = async (intent: ChaosIntent): Promise<void> => {
    const fulfil = (each: Caller): Promise<void> => each.fulfil(intent, day.isOver);
    intent.isShared = random.chance(0.12) && !intent.isToBeCancelled;
    if (!intent.isShared) return fulfil(caller);
    // Both have asked before either can have read: what one calls after that is a call of its own (▲6).
    const isNamed = intent.supersedes !== undefined;
    if (!isNamed && (await other.begin(intent, day.isOver))) return;
    const hasOutcome = !isNamed && (await caller.begin(intent, day.isOver));
    await Promise.all((hasOutcome ? [other] : [other, caller]).map(fulfil));
  };
  while (day.mayIntent()) {
    const intent = drawIntent(world.account, random, world.editors);
    await ask(intent);
    const end = intent.outcomes.at(-1)?.reported;
    if (end?.log_id === undefined || intent.isRead || !hasBegun(end) || !random.chance(0.05)) continue;
    await ask(intendAgain(world.account, intent, end.log_id));
  }
  await caller.close();
  await other.close();
}

/** What goes on beside the storm: copies are taken, and a person gives an Editor back to a store that was emptied. */
function takeCare(world: ChaosWorld, random: Random): { end(): Promise<void> } {
  let isOver = false;
  const copying = async (): Promise<void> => {
    for (let last = 0; !isOver; await drawnPause(50)) {
      if (performance.now() - last < COPY_EVERY_MS) continue;
      last = performance.now();
      await world.copies.take().catch(() => undefined);
      const editor = random.pick(world.editors.filter(({ plain }) => !plain));
      await editor.copyLedger().catch(() => undefined);
    }
  };
  const handingOver = async (): Promise<void> => {
    for (; !isOver; await drawnPause(500)) {
      const diagnoses = await world.hand
        .hgetall("{ujb}:troubles")
        .catch(() => ({}) as Record<string, string>);
      for (const editor of world.editors.filter(({ plain }) => !plain)) {
        if (!diagnoses[editor.id]?.includes("FOREIGN_BROKER")) continue;
        await editor.do({ do: "handOver" }).catch(() => undefined);
      }
    }
  };
  const both = Promise.all([copying(), handingOver()]);
  return {
    async end() {
      isOver = true;
      await both;
    },
  };
}
