/** Draws faults one after another while it lasts; several may be under way, but no two on the same target. */

import { drawnPause, type Random } from "../../engine/random.js";
import type { ChaosWorld } from "../world.js";
import type { Aim, Fault } from "./fault.js";

export interface Storm {
  /** Draws no more; resolves when everything is healed. */
  end(): Promise<void>;
}

export interface StormOptions {
  /** Mean time between two faults, ms. */
  everyMs: number;
}

/** More than this at once would be an outage, and not faults. */
const MOST_AT_ONCE = 4;

export function startStorm(
  world: ChaosWorld,
  faults: readonly Fault[],
  random: Random,
  options: StormOptions,
): Storm {
  const underWay = new Map<string, Promise<void>>();
  let isOver = false;
  /** Cuts the pauses of what lasts when the storm ends. */
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const strike = async (kind: string, aim: Aim): Promise<void> => {
    const event = world.events.note({ kind, target: aim.target, editors: aim.editors });
    try {
      const detail = await aim.strike();
      if (typeof detail === "string") event.detail = detail;
      await Promise.race([drawnPause(aim.lastsMs), ended]);
    } catch (error) {
      // It died of something else meanwhile.
      event.detail = `not struck: ${(error as Error).message}`;
    }
    try {
      await aim.heal?.();
    } catch (error) {
      event.detail = `${event.detail ?? ""} not healed: ${(error as Error).message}`;
    }
    event.until = Date.now();
  };

  const blow = async (): Promise<void> => {
    while (!isOver) {
      await Promise.race([drawnPause(random.between(0.3, 1.7) * options.everyMs), ended]);
      const fault = drawFault(faults, random);
      const aim = fault.aim(world, random);
      if (isOver || !aim || underWay.has(aim.target) || underWay.size >= MOST_AT_ONCE) continue;
      underWay.set(
        aim.target,
        strike(fault.kind, aim).finally(() => underWay.delete(aim.target)),
      );
    }
  };
  const blowing = blow();

  return {
    async end() {
      isOver = true;
      end();
      await blowing;
      await Promise.all(underWay.values());
    },
  };
}

function drawFault(faults: readonly Fault[], random: Random): Fault {
  let left = random.between(
    0,
    faults.reduce((sum, { weight }) => sum + weight, 0),
  );
  for (const fault of faults) {
    left -= fault.weight;
    if (left < 0) return fault;
  }
  return faults.at(-1) as Fault;
}
