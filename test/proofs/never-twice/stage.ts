/** Where one scenario plays with one seed: its clients, its intents, and the account that must be right at the end. */
import {
  type Asked,
  BEHIND_A_PROXY,
  type CallAnswer,
  type HttpClient,
  type StdioClient,
  type TestClient,
} from "../../harness/processes/process-clients.js";
import type { World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";
import { grouped } from "../engine/grouped.js";
import { type Counts as CallCounts, createAccount, type Intent as Intended } from "../engine/intents.js";
import { wrongAnswers } from "../engine/judge/answers.js";
import { disagreement, misexecuted } from "../engine/judge/executions.js";
import { allEnded } from "../engine/judge/leftovers.js";
import { isAway, isFinal, isOutcome } from "../engine/outcomes.js";
import { createRandom, type Random } from "../engine/random.js";

export interface Counts extends CallCounts {
  intents: number;
  executions: number;
  kills: number;
}

/** A call of its own (and of those made `again`), mostly a menu item that holds the main thread. */
export interface Intent extends Intended {
  readonly seconds: number;
  /** The first that anybody was given. */
  readonly logId: string | undefined;
  /** Sends the call. */
  ask(client: TestClient, timeout: number, more?: More): Asked;
  call(client: TestClient, timeout: number, more?: More): Promise<CallAnswer>;
  /** Calls again and again until it receives an outcome; a gateway that died is started, as a supervisor would. */
  untilTold(client: TestClient, more?: Omit<More, "id">): Promise<CallAnswer>;
  /** An answer that came by another way (get_operation_result). */
  note(reported: CallAnswer): CallAnswer;
  /** Resolves when the Editor has begun it. */
  begun(): Promise<void>;
  /** The same call, meant once more. */
  again(): Intent;
}

export interface More {
  id?: number;
  forceNew?: string;
  /** The Editor that the caller names. */
  editor?: string;
}

export interface Stage {
  readonly world: World;
  readonly random: Random;
  readonly counts: Counts;
  /** More calls and more kills, where a scenario has a long form. */
  readonly isLong: boolean;
  intent(seconds: number): Intent;
  /** Any other call that nobody else makes, and that begins once although its tool may repeat it. */
  intentOf(tool: string, args: Record<string, unknown>): Intent;
  /** A session behind a proxy, which loses answers: it has read what it has named. It ends with the scenario. */
  http(url?: () => string): Promise<HttpClient>;
  /** A session without a proxy: it has read what it was given at once. */
  direct(): Promise<HttpClient>;
  /** A stdio process of this scenario's own. */
  newStdio(): Promise<StdioClient>;
  /** One that shares the background broker with all other pipes; this ends with the scenario. */
  pipe(): Promise<StdioClient>;
  /** Any other client, heard and ended as those are. */
  take<Client extends TestClient>(client: Client): Client;
  killed(): void;
  /** How often each menu item was intended, so far. */
  intended(): { item: string; intents: number }[];
  /** Throws unless the account is right. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** The answers differ from what was executed. */
export class WrongAnswers extends Error {
  constructor(readonly whats: readonly string[]) {
    super(whats.join("\n"));
  }
}

/** The callers of one intent were given several operations, or none. */
export class NotOneOperation extends Error {
  constructor(
    { label, logIds, refusals }: Pick<Intended, "label" | "logIds" | "refusals">,
    readonly logIdCount = logIds.size,
  ) {
    super(
      `callers of ${label} were given the log_ids ${[...logIds].join(", ")}, refused: ${JSON.stringify(refusals)}`,
    );
  }
}

/** One for each menu item of a test run: the Editor tells by it which intent an execution belongs to. */
let items = 0;

export function createStage(world: World, seed: number, { isLong = false } = {}): Stage {
  const startedAt = Date.now();
  const account = createAccount<Intent>((tool, args) => String(args.MenuItemPath ?? tool));
  const { intents, listener } = account;
  const counts: Counts = Object.assign(account.counts, { intents: 0, executions: 0, kills: 0 });
  const clients: TestClient[] = [];
  let hasPipes = false;

  const intend = (tool: string, own: Record<string, unknown>, seconds: number): Intent => {
    counts.intents += 1;
    const ask: Intent["ask"] = (client, timeout, { id, forceNew, editor } = {}) => {
      const force = forceNew === undefined ? {} : { force_new: forceNew };
      const named = editor === undefined ? {} : { editor };
      const args = { ...intent.args, timeout, ...force, ...named };
      return account.ask(intent, client, intent.tool, args, id === undefined ? {} : { id });
    };
    const call = { tool, args: own, isRepeatable: false };
    const intent: Intent = account.intend(call, {
      seconds,
      get logId() {
        return intent.logIds.values().next().value;
      },
      ask,
      call: (client, timeout, more) => ask(client, timeout, more).answer,
      note: (reported) => account.hear(intent, reported),
      async untilTold(client, more) {
        return until(
          `${client.transport} receives the outcome of ${intent.label}`,
          async () => {
            try {
              const reported = await ask(client, 5, more).answer;
              return isFinal(reported) && reported;
            } catch (error) {
              if (!isAway(error) || client.transport === "stdio") throw error;
              await world.gateway.start();
              return false;
            }
          },
          60_000,
        );
      },
      async begun() {
        const { label } = intent;
        await until(`${label} begins`, async () => (await world.editor.executions(label)).length > 0);
      },
      again: () => intend(tool, own, seconds),
    });
    return intent;
  };
  const take: Stage["take"] = (client) => {
    clients.push(client);
    return listener.to(client);
  };

  return {
    world,
    random: createRandom(seed),
    counts,
    isLong,
    intent(seconds) {
      items += 1;
      // Its digits beyond the tenth of a second make it one of its own.
      const item = `Simulator/Block For ${seconds.toFixed(2)}${items} Seconds`;
      return intend("execute-menu-item", { MenuItemPath: item }, seconds);
    },
    intentOf: (tool, args) => intend(tool, args, 0),
    http: async (url = world.url) => take(await world.http(url, BEHIND_A_PROXY)),
    direct: async () => take(await world.http()),
    newStdio: async () => take(await world.stdio()),
    async pipe() {
      hasPipes = true;
      return take(await world.pipe());
    },
    take,
    killed() {
      counts.kills += 1;
    },

    intended: () =>
      [...grouped(intents, ({ label }) => label)].map(([item, all]) => ({ item, intents: all.length })),

    async verify() {
      await world.worker.start();
      await world.gateway.start();
      const reader = take(await world.http());
      for (const intent of intents) {
        if (intent.logIds.size !== 1) throw new NotOneOperation(intent);
        const read = { log_id: intent.logId, wait: true, timeout: 30 };
        const reported = intent.note(await reader.call("get_operation_result", read));
        if (!isOutcome(reported)) throw new Error(`${intent.label} did not end: ${JSON.stringify(reported)}`);
      }
      const all = (await world.editor.executions()).map(({ operationId, what, at }) => {
        return { id: operationId, operationId, call: what, at, editor: "the Editor" };
      });
      // What has no name of its own in the Editor's account may have been called in an earlier scenario.
      const ran = all.filter(
        ({ call, at }) => at >= startedAt && intents.some(({ label }) => label === call),
      );
      counts.executions += ran.length;
      const faults = [
        ...misexecuted(ran, intents, { exactly: true }).map(({ what }) => what),
        ...intents.flatMap((intent) => disagreement(intent, outcomeOf) ?? []),
        ...intents.flatMap(({ label, refusals }) =>
          refusals.map((one) => `${label}: ${JSON.stringify(one)}`),
        ),
      ];
      if (faults.length > 0) throw new Error(faults.join("\n"));
      const wrong = wrongAnswers(listener.heard, all);
      if (wrong.length > 0) throw new WrongAnswers(wrong.map(({ what }) => what));
      await allEnded({ hand: world.hand, editors: [world.editor], storeWasLost: false });
    },

    async close() {
      for (const client of clients) await client.close();
      if (hasPipes) await world.broker.end();
    },
  };
}

function outcomeOf({ status, state, result, error_code, error }: CallAnswer): string {
  return JSON.stringify({ status, state, result, error_code, error });
}
