/** The background broker of four clients dies, again and again, under what they ask for. */
import type { StdioClient } from "../../../harness/processes/process-clients.js";
import { toolsAreKnown } from "../../../harness/processes/process-world.js";
import { until } from "../../../harness/processes/processes.js";
import { isApply, type RedisCommand } from "../../../harness/redis/process-redis.js";
import { drawnPlace } from "../../engine/drawn-place.js";
import { inTime } from "../../engine/in-time.js";
import { drawnPause, type Random } from "../../engine/random.js";
import type { Stage } from "../stage.js";
import type { Scenario } from "./scenario.js";

const CLIENTS = 4;

interface Form {
  calls: number;
  kills: number;
}
const SHORT: Form = { calls: 24, kills: 2 };
const LONG: Form = { calls: 200, kills: 6 };

/** A client's calls that leave together: all but the first wait behind others. */
const MOST_AT_ONCE = 4;
/** A wait that only a broken pipe would let end. */
const PATIENCE_S = 60;
/** Longer: the next broker has to take the Editor over first. */
const ANSWER_LIMIT_MS = 90_000;

/** A pipe takes five deaths within ten seconds for those of a broker that cannot live, and starts no more. */
const DEATHS_APART_MS = 2_600;

type Kind = "mutating" | "repeatable" | "read-only";

interface Call {
  kind: Kind;
  /** How long its menu item holds the main thread. */
  seconds: number;
}

interface Strike {
  /** It comes after this many answers. */
  after: number;
  when: "before" | "after";
  matches(command: RedisCommand): boolean;
  /** If no such command comes by, ms. */
  atTheLatest: number;
}

/** Repeatable, in the Editors that have it. */
const SETS = "set-property";

/**
 * The outcome of a repeatable call is noted as delivered before its answer leaves: a broker that dies there has told
 * nobody, and only the number of the request that is sent again says that it is the same request (▲7).
 */
function notesDelivery(command: RedisCommand): boolean {
  return (
    isApply(command) &&
    command.some((part) => part.includes('"firstDeliveredAt"') && part.includes(`"tool":"${SETS}"`))
  );
}

function drawnStrikes(random: Random, { calls, kills }: Form): Strike[] {
  const spread = Math.floor((calls * 0.8) / kills);
  return Array.from({ length: kills }, (_none, at) => ({
    after: at * spread + random.whole(1, spread),
    ...(at % 2 === 0
      ? { when: "after" as const, matches: notesDelivery }
      : { when: random.pick(["before", "after"] as const), matches: drawnPlace(random, 120) }),
    atTheLatest: random.between(300, 3_000),
  }));
}

function drawnCalls(random: Random, calls: number): Call[] {
  return Array.from({ length: calls }, () => ({
    kind: random.pick(["mutating", "mutating", "repeatable", "repeatable", "read-only"] as const),
    seconds: random.between(0.02, 0.15),
  }));
}

/** Calls that leave together. */
function drawnBursts(random: Random, calls: readonly Call[]): Call[][] {
  const left = [...calls];
  const bursts: Call[][] = [];
  while (left.length > 0) bursts.push(left.splice(0, random.whole(1, MOST_AT_ONCE)));
  return bursts;
}

let values = 0;

export const brokerKilled: Scenario = {
  name: "the background broker is killed",
  story: "the one broker of four clients dies under their calls; the next one is sent what was not answered",
  longLimitMs: 300_000,
  async play(stage) {
    const { random, world } = stage;
    const form = stage.isLong ? LONG : SHORT;
    const plans = Array.from({ length: CLIENTS }, () =>
      drawnBursts(random, drawnCalls(random, form.calls / CLIENTS)),
    );
    const strikes = drawnStrikes(random, form);
    // The broker is to be the Editor's owner as well.
    await world.worker.kill();
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => stage.pipe()));
    const [first] = await Promise.all(clients.map(toolsAreKnown));
    const canSet = first?.includes(SETS) === true;
    let answers = 0;

    const send = async (client: StdioClient, call: Call): Promise<void> => {
      const reported = await inTime(asked(stage, client, call, canSet), ANSWER_LIMIT_MS).catch(
        (error: Error) => {
          throw new Error(`a ${call.kind} call of ${client.process.name}: ${error.message}`, {
            cause: error,
          });
        },
      );
      answers += 1;
      if (reported.status !== "completed") throw new Error(`not completed: ${JSON.stringify(reported)}`);
    };
    const callAll = async (client: StdioClient, bursts: readonly Call[][]): Promise<void> => {
      for (const burst of bursts) await Promise.all(burst.map((call) => send(client, call)));
    };
    let killedAt = Number.NEGATIVE_INFINITY;
    const kill = async (strike: Strike): Promise<void> => {
      const pid = await world.broker.started();
      await until("enough is answered", () => answers >= strike.after, ANSWER_LIMIT_MS);
      await drawnPause(killedAt + DEATHS_APART_MS - performance.now());
      stage.killed();
      await struck(stage, pid, strike);
      killedAt = performance.now();
      await until("another broker serves", async () => (await world.broker.started()) !== pid);
    };
    const killAll = async (): Promise<void> => {
      for (const strike of strikes) await kill(strike);
    };
    await Promise.all([killAll(), ...clients.map((client, at) => callAll(client, plans[at] ?? []))]);
  },
};

function asked(stage: Stage, client: StdioClient, { kind, seconds }: Call, canSet: boolean) {
  if (kind === "read-only") {
    stage.counts.calls += 1;
    return client.call("get-hierarchy", { timeout: PATIENCE_S });
  }
  if (kind === "mutating" || !canSet) return stage.intent(seconds).call(client, PATIENCE_S);
  values += 1;
  return stage.intentOf(SETS, { Path: "/Root/Light.intensity", Value: values }).call(client, PATIENCE_S);
}

/** Resolves when it is dead. */
async function struck({ world: { broker } }: Stage, pid: number, strike: Strike): Promise<void> {
  const line = await broker.line();
  const cut = new Promise<void>((resolve) => line.cutAt(strike.when, strike.matches, resolve));
  await inTime(cut, strike.atTheLatest).catch(() => undefined);
  await broker.kill(pid);
}
