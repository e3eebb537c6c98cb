/**
 * Calls that may run again but must never get a stale answer: tests, compilation and settings, called by everybody, with changes
 * in between. The account of answers (answers.ts) is the judge: of these calls nobody counts how often they run.
 */
import type { CallAnswer, TestClient } from "../../../harness/processes/process-clients.js";
import { toolsAreKnown } from "../../../harness/processes/process-world.js";
import { until } from "../../../harness/processes/processes.js";
import { isAway, isFinal } from "../../engine/outcomes.js";
import { drawnPause, type Random } from "../../engine/random.js";
import type { Intent, Stage } from "../stage.js";
import type { Scenario } from "./scenario.js";

interface Call {
  tool: string;
  args: Record<string, unknown>;
}

/** Short in both Editors. The same for everybody, so that all of them are in each other's way. */
const CALLS: readonly Call[] = [
  { tool: "run-tests", args: { FilterType: "exact", FilterValue: "Simulated.EditMode.Test001" } },
  { tool: "run-tests", args: { FilterType: "exact", FilterValue: "Simulated.EditMode.Test002" } },
  { tool: "compile", args: {} },
  { tool: "set-property", args: { Path: "/Root/Light.intensity", Value: 1 } },
  { tool: "set-property", args: { Path: "/Root/Light.intensity", Value: 2 } },
];

/** A caller that comes back as it was, or in another session for each call. */
interface Guest {
  client(): Promise<TestClient>;
}

interface Morning {
  guests: Guest[];
  /** What the Editor offers of them. */
  calls: Call[];
}

/** Before the first blow: nobody sends these requests again. */
async function morning(stage: Stage): Promise<Morning> {
  const same = await stage.http();
  const stdio = await stage.newStdio();
  const names = await toolsAreKnown(same);
  return {
    guests: [
      { client: async () => same },
      { client: () => openedAgain(stage) },
      { client: async () => stdio },
    ],
    calls: CALLS.filter(({ tool }) => names.includes(tool)),
  };
}

/** A client that finds nobody comes back until somebody is there. */
async function openedAgain(stage: Stage): Promise<TestClient> {
  return until("a session is opened", async () => {
    try {
      return await stage.http();
    } catch (error) {
      if (!isAway(error)) throw error;
      return false;
    }
  });
}

/** Sends one call until it has its outcome, in one of the ways that callers have; sometimes it loses interest. */
async function wantOnce(stage: Stage, random: Random, guest: Guest, { tool, args }: Call): Promise<void> {
  const client = await guest.client();
  const first = await asked(stage, client, tool, { ...args, timeout: random.pick([0, 0.05, 0.3, 20]) });
  if (first && isFinal(first)) return;
  const logId = first?.log_id;
  switch (random.pick(["again", "again", "read", "given up", "left"])) {
    case "left":
      return;
    case "read":
      if (logId !== undefined)
        await asked(stage, client, "get_operation_result", { log_id: logId, wait: true, timeout: 20 });
      return;
    case "given up": {
      const waiting = client.ask(tool, { ...args, timeout: 20 });
      waiting.answer.catch(() => undefined);
      await drawnPause(random.between(0, 150));
      await client.giveUp(waiting.id).catch(() => undefined);
    }
  }
  const again = await guest.client();
  await asked(stage, again, tool, { ...args, timeout: 20 });
}

/** Undefined: nobody was there to answer. */
async function asked(
  stage: Stage,
  client: TestClient,
  tool: string,
  args: Record<string, unknown>,
): Promise<CallAnswer | undefined> {
  try {
    stage.counts.calls += 1;
    const reported = await client.call(tool, args);
    if (reported.deduplicated) stage.counts[isFinal(reported) ? "replayed" : "joined"] += 1;
    return reported;
  } catch (error) {
    if (!isAway(error)) throw error;
    await drawnPause(100);
    return undefined;
  }
}

/** The caller that killed the gateway starts it again, and nobody else. */
async function onceTold(intent: Intent, client: TestClient): Promise<void> {
  await until(`${intent.label} has its outcome`, async () => {
    try {
      return isFinal(await intent.call(client, 5));
    } catch (error) {
      if (!isAway(error)) throw error;
      return false;
    }
  });
}

/** Everybody wants these things a few times, and some menu items in between that must run once. */
async function busyDay(stage: Stage, { guests, calls }: Morning, rounds: number): Promise<void> {
  await Promise.all(
    guests.map(async (guest) => {
      for (let round = 0; round < rounds; round += 1) {
        if (stage.random.chance(0.15)) {
          const intent = stage.intent(stage.random.between(0.02, 0.1));
          await onceTold(intent, await guest.client());
        } else await wantOnce(stage, stage.random, guest, stage.random.pick(calls));
        await drawnPause(stage.random.between(0, 60));
      }
    }),
  );
}

export const repeatedByAll: Scenario = {
  name: "repeatable calls of everybody",
  story: "tests, compilation and settings are called by several, who poll, give up, come back and call again",
  play: async (stage) => busyDay(stage, await morning(stage), 7),
};

type Blow = (stage: Stage) => Promise<unknown>;

const BLOWS: readonly Blow[] = [
  async ({ world: { gateway } }) => {
    await gateway.kill();
    await gateway.start();
  },
  async ({ world: { worker } }) => {
    await worker.kill();
    await worker.start();
  },
  async ({ world: { redis } }) => {
    await redis.kill();
    await redis.restart();
  },
  ({ world: { editor } }) => editor.do({ do: "reload", downMs: 100 }),
];

export const repeatedUnderFire: Scenario = {
  name: "repeatable calls under fire",
  story: "the same while gateway, owner or store die, or the Editor reloads its scripts",
  async play(stage) {
    const { random } = stage;
    const begun = await morning(stage);
    const blows = [random.pick(BLOWS), random.pick(BLOWS)];
    const delays = blows.map(() => random.between(100, 700));
    const blow = async (): Promise<void> => {
      for (const [index, strike] of blows.entries()) {
        await drawnPause(delays[index] ?? 0);
        stage.killed();
        await strike(stage);
      }
    };
    await Promise.all([busyDay(stage, begun, 6), blow()]);
  },
};
