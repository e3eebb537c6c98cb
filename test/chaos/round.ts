/**
 * One round: callers want things while the storm blows; then everything is healed, everything ends, and it is read
 * back. A round loses ledgers or stores, never both: what both have lost, nothing remembers (design §8).
 */
import { until } from "../harness/processes.js";
import { faultsOfTimes } from "../harness/record-times.js";
import { createRandom, type Random } from "../never-twice/random.js";
import { drawnPause } from "../never-twice/scenario.js";
import { type Caller, type CallTally, createCaller } from "./caller.js";
import type { Fault } from "./fault.js";
import { allEnded } from "./leftovers.js";
import { readBack } from "./read-back.js";
import { startStorm } from "./storm.js";
import { hasBegun, type Violation } from "./verdict.js";
import type { VoiceKind } from "./voices.js";
import type { Wish, Wishes } from "./wish.js";
import type { ChaosWorld } from "./world.js";

export interface RoundOptions {
  seed: number;
  faults: readonly Fault[];
  operations: number;
  seconds: number;
  callers: number;
  faultEveryMs: number;
}

/** After the storm everybody must be told within this time. */
const CALM_MS = 90_000;
const COPY_EVERY_MS = 4_000;

export async function playRound(
  world: ChaosWorld,
  wishes: Wishes,
  tally: CallTally,
  options: RoundOptions,
): Promise<Violation[]> {
  const first = wishes.all.length;
  const stormOver = performance.now() + options.seconds * 1000;
  let deadline = stormOver + CALM_MS;
  const isOver = (): boolean => performance.now() > deadline;
  const mayWish = (): boolean =>
    performance.now() < stormOver && wishes.all.length - first < options.operations;

  const storm = startStorm(world, options.faults, createRandom(options.seed), {
    everyMs: options.faultEveryMs,
  });
  const care = takeCare(world, createRandom(options.seed + 1));
  const callers = Array.from({ length: options.callers }, (_, number) =>
    work(world, wishes, tally, { ...habitsOf(number, options.seed), mayWish, isOver }),
  );
  await Promise.race([
    Promise.all(callers),
    until("the storm is over", () => !mayWish(), options.seconds * 2000),
  ]);
  await storm.end();
  deadline = performance.now() + CALM_MS;
  await Promise.all(callers);
  try {
    await allEnded(world);
    const disorder = (await faultsOfTimes(world.hand)).map((fault) => ({
      what: `times: ${fault}`,
      wish: undefined,
    }));
    return [...(await readBack(world, wishes.all.slice(first))), ...disorder];
  } catch (error) {
    return [{ what: (error as Error).message, wish: undefined }];
  } finally {
    await care.end();
  }
}

/** Processes over stdio are heavy: one caller in twelve. */
function habitsOf(number: number, seed: number): { kind: VoiceKind; random: Random } {
  const kind = number % 12 === 3 ? "stdio" : number % 3 === 0 ? "official client" : "plain HTTP";
  return { kind, random: createRandom(seed * 1000 + number) };
}

interface Work {
  kind: VoiceKind;
  random: Random;
  mayWish(): boolean;
  isOver(): boolean;
}

/** One caller's day: one wish after the other, some of them shared, some meant once more. */
async function work(world: ChaosWorld, wishes: Wishes, tally: CallTally, day: Work): Promise<void> {
  const { kind, random } = day;
  const caller = createCaller(world, kind, random, tally);
  const other = createCaller(world, "plain HTTP", createRandom(random.whole(0, 1e9)), tally);
  const ask = async (wish: Wish): Promise<void> => {
    const helpers: Caller[] = random.chance(0.12) ? [caller, other] : [caller];
    await Promise.all(helpers.map((each) => each.fulfil(wish, day.isOver)));
  };
  while (day.mayWish()) {
    const wish = wishes.draw(random, world.editors);
    await ask(wish);
    const end = wish.told.at(-1)?.told;
    if (end?.log_id === undefined || wish.isRead || !hasBegun(end) || !random.chance(0.05)) continue;
    await ask(wishes.again(wish, end.log_id));
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
      const troubles = await world.hand.hgetall("{ujb}:troubles").catch(() => ({}) as Record<string, string>);
      for (const editor of world.editors.filter(({ plain }) => !plain)) {
        if (!troubles[editor.id]?.includes("foreign_broker")) continue;
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
