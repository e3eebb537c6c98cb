/**
 * The mission: one call is executed at most once, no matter who sends it again, and everybody gets the same outcome.
 *
 * Real processes, real clients, a real Redis; only Unity is played, and counts for itself what it begins.
 * `SEED=42 npm test -- test/proofs/never-twice` plays one seed again; docs/proofs/never-twice.md says what the scenarios are.
 */

import { afterAll, describe, expect, it } from "vitest";
import { TELLING_ENGINES } from "../harness/editor/dotnet.js";
import { isLongForm } from "../harness/long-form.js";
import { expectNoLeak } from "../harness/processes/leaks.js";
import { startWorld } from "../harness/processes/process-world.js";
import { freshSeed } from "./engine/random.js";
import { createWorlds } from "./engine/worlds.js";
import { loseAnswer, REPLAY_WINDOW } from "./never-twice/scenarios/lost-answers.js";
import { fullScale } from "./never-twice/scenarios/regression.js";
import { playScenario } from "./never-twice/scenarios/scenario.js";
import { SCENARIOS } from "./never-twice/scenarios/scenarios.js";
import { STORIES } from "./never-twice/scenarios/stories.js";

const MINUTE = 60_000;
const FIXED_SEEDS = isLongForm ? [1, 2, 3] : [];
const SEEDS = process.env.SEED ? [Number(process.env.SEED)] : [...FIXED_SEEDS, freshSeed()];

afterAll(() => expectNoLeak(), MINUTE);

describe.concurrent("never twice", () => {
  it(
    fullScale.name,
    async () => {
      // The timings of an installation, not of a test.
      const world = await startWorld({
        env: {
          UNITY_BROKER_LEASE_MS: "",
          UNITY_BROKER_JOB_LOCK_MS: "",
          UNITY_BROKER_ACK_DELAY_MS: "",
          UNITY_BROKER_SWEEP_MS: "",
          UNITY_BROKER_SAFETY_POLL_MS: "",
        },
      });
      try {
        await playScenario(fullScale, 1, world);
      } finally {
        await world.close();
      }
    },
    3 * MINUTE,
  );

  it(
    "schedule S: an answer that nobody received is replayed however late the retry comes",
    async ({ expect }) => {
      const world = await startWorld({ env: REPLAY_WINDOW });
      try {
        for (const [open, way, item] of [
          [world.http, "hung up", "Simulator/Block For 0.31 Seconds"],
          [world.http, "given up", "Simulator/Block For 0.32 Seconds"],
          [world.stdio, "given up", "Simulator/Block For 0.33 Seconds"],
        ] as const) {
          const client = await open();
          const { logId, retried, executions } = await loseAnswer(world, client, way, item);
          await client.close();
          expect(retried, `${client.transport}, ${way}`).toMatchObject({
            status: "completed",
            log_id: logId,
            deduplicated: true,
          });
          expect(executions, `${client.transport}, ${way}`).toBe(1);
        }
      } finally {
        await world.close();
      }
    },
    2 * MINUTE,
  );
});

describe.concurrent.each(TELLING_ENGINES)("never twice, with the %s Editor", (engine) => {
  // Most of the time is spent waiting for menu items that block: more worlds than cores.
  const worlds = createWorlds(3, { engine });
  afterAll(() => worlds.close(), MINUTE);

  for (const scenario of SCENARIOS) {
    it(
      `${scenario.name}: ${scenario.story}`,
      async () => {
        for (const seed of SEEDS) {
          if (!FIXED_SEEDS.includes(seed)) console.log(`${scenario.name}: SEED=${seed}`);
          await worlds.lend((world) => playScenario(scenario, seed, world, { isLong: isLongForm }));
        }
      },
      (isLongForm ? 10 : 4) * MINUTE,
    );
  }

  for (const story of STORIES) {
    it(story.name, () => worlds.lend((world) => playScenario(story, 1, world)), 2 * MINUTE);
  }
});

it("every scenario has a name of its own", () => {
  const names = [fullScale, ...SCENARIOS, ...STORIES].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
