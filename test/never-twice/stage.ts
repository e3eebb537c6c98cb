/**
 * Where one scenario plays with one seed: its clients, its wishes, and the account that must be right at the end.
 *
 * A wish is what somebody really wanted: a first call, a deliberate run after a confirmed answer, or a force_new.
 * However often it was sent, by whomever, it may begin once, and everybody who asks is told the same.
 */
import type { Asked, HttpClient, StdioClient, TestClient, Told } from "../harness/process-clients.js";
import type { World } from "../harness/process-world.js";
import { until } from "../harness/processes.js";
import { createListener, wrongAnswers } from "./answers.js";
import { createRandom, type Random } from "./random.js";

export interface Tally {
  calls: number;
  wishes: number;
  executions: number;
  joined: number;
  replayed: number;
  kills: number;
}

export interface Wish {
  /** The menu item, of this wish's own (and of those made `again`). */
  readonly item: string;
  /** How long it holds the main thread, s. */
  readonly seconds: number;
  readonly logId: string | undefined;
  /** Sends the call; the answer is checked against all others of this wish. */
  ask(client: TestClient, timeout: number, more?: More): Asked;
  call(client: TestClient, timeout: number, more?: More): Promise<Told>;
  /** Calls again and again until an outcome is told; a gateway that died is started, as a supervisor would. */
  untilTold(client: TestClient, more?: Omit<More, "id">): Promise<Told>;
  /** An answer that came by another way (get_operation_result). */
  note(told: Told): Told;
  /** Resolves when the Editor has begun it. */
  begun(): Promise<void>;
  /** The same call, meant once more. */
  again(): Wish;
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
  readonly tally: Tally;
  wish(seconds: number): Wish;
  /** A session that ends with the scenario. */
  http(url?: () => string): Promise<HttpClient>;
  /** A stdio process of this scenario's own. */
  newStdio(): Promise<StdioClient>;
  killed(): void;
  /** How often each menu item was wished, so far. */
  wished(): { item: string; wishes: number }[];
  /** Throws unless the account is right. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** What answers told is not what was executed. */
export class WrongAnswers extends Error {
  constructor(readonly whats: readonly string[]) {
    super(whats.join("\n"));
  }
}

interface Account {
  item: string;
  wishes: Entry[];
}

interface Entry {
  logId: string | undefined;
  outcome: string | undefined;
}

/** One for each menu item of a test run: the Editor tells by it which wish an execution belongs to. */
let items = 0;

export function createStage(world: World, seed: number): Stage {
  const random = createRandom(seed);
  const tally: Tally = { calls: 0, wishes: 0, executions: 0, joined: 0, replayed: 0, kills: 0 };
  const accounts: Account[] = [];
  const clients: TestClient[] = [];
  const listener = createListener((tool, args) => String(args.MenuItemPath ?? tool));

  const makeWish = (account: Account, seconds: number): Wish => {
    const entry: Entry = { logId: undefined, outcome: undefined };
    account.wishes.push(entry);
    tally.wishes += 1;
    const { item } = account;

    const note = (told: Told): Told => {
      if (told.log_id !== undefined) entry.logId = agree(`log_id of ${item}`, entry.logId, told.log_id);
      if (isTold(told)) entry.outcome = agree(`outcome of ${item}`, entry.outcome, outcomeOf(told));
      if (told.deduplicated) tally[isTold(told) ? "replayed" : "joined"] += 1;
      return told;
    };
    const ask: Wish["ask"] = (client, timeout, { id, forceNew, editor } = {}) => {
      tally.calls += 1;
      const args = {
        MenuItemPath: item,
        timeout,
        ...(forceNew === undefined ? {} : { force_new: forceNew }),
        ...(editor === undefined ? {} : { editor }),
      };
      const asked = client.ask("execute-menu-item", args, id === undefined ? {} : { id });
      const answer = asked.answer.then(note);
      answer.catch(() => undefined);
      return { ...asked, answer };
    };
    const wish: Wish = {
      item,
      seconds,
      get logId() {
        return entry.logId;
      },
      ask,
      call: (client, timeout, more) => ask(client, timeout, more).answer,
      note,
      async untilTold(client, more) {
        return until(
          `${client.transport} is told the outcome of ${item}`,
          async () => {
            try {
              const told = await ask(client, 5, more).answer;
              return isTold(told) && told;
            } catch (error) {
              if (!isAway(error)) throw error;
              if (client.transport === "stdio") throw error;
              await world.gateway.start();
              return false;
            }
          },
          60_000,
        );
      },
      async begun() {
        await until(`${item} begins`, async () => (await world.editor.executions(item)).length > 0);
      },
      again: () => makeWish(account, seconds),
    };
    return wish;
  };

  const http: Stage["http"] = async (url = world.url) => {
    const client = listener.to(await world.http(url));
    clients.push(client);
    return client;
  };

  return {
    world,
    random,
    tally,
    wish(seconds) {
      items += 1;
      // Its digits beyond the tenth of a second make it one of its own.
      const account = { item: `Simulator/Block For ${seconds.toFixed(2)}${items} Seconds`, wishes: [] };
      accounts.push(account);
      return makeWish(account, seconds);
    },
    http,
    async newStdio() {
      const client = listener.to(await world.stdio());
      clients.push(client);
      return client;
    },
    killed() {
      tally.kills += 1;
    },

    wished: () => accounts.map(({ item, wishes }) => ({ item, wishes: wishes.length })),

    async verify() {
      await world.worker.start();
      await world.gateway.start();
      const reader = await http();
      for (const { item, wishes } of accounts) {
        for (const entry of wishes) {
          if (entry.logId === undefined) throw new Error(`nobody was ever told a log_id of ${item}`);
          const told = await reader.call("get_operation_result", {
            log_id: entry.logId,
            wait: true,
            timeout: 30,
          });
          if (!isTold(told)) throw new Error(`${item} did not end: ${JSON.stringify(told)}`);
          agree(`recorded outcome of ${item}`, entry.outcome, outcomeOf(told));
        }
        const executions = await world.editor.executions(item);
        tally.executions += executions.length;
        const ids = executions.map(({ operationId }) => operationId);
        if (ids.length !== wishes.length || new Set(ids).size !== ids.length) {
          throw new Error(
            `${item} was wished ${wishes.length} time(s) and executed ${ids.length} time(s): ${ids.join(", ")}`,
          );
        }
      }
      const executions = await world.editor.executions();
      const wrong = wrongAnswers(
        listener.heard,
        executions.map(({ operationId, what, at }) => ({ operationId, call: what, at })),
      );
      if (wrong.length > 0) throw new WrongAnswers(wrong.map(({ what }) => what));
      await until("no operation is open", async () => {
        const open = await world.hand.zcard(`{ujb}:open:${world.editor.editorId}`);
        return open === 0;
      });
    },

    async close() {
      for (const client of clients) await client.close();
    },
  };
}

/** A final outcome, of whatever kind. A store that is away refuses to say anything: that is none. */
export function isTold(told: Told): boolean {
  return told.status !== "timeout" && told.status !== "running" && told.error_code !== "STORE_UNAVAILABLE";
}

function outcomeOf({ status, state, result, error_code, error }: Told): string {
  return JSON.stringify({ status, state, result, error_code, error });
}

function agree(what: string, before: string | undefined, now: string): string {
  if (before !== undefined && before !== now) throw new Error(`${what} was ${before} and is now ${now}`);
  return now;
}

/** The gateway or its store is away: a client sends the call again. */
export function isAway(error: unknown): boolean {
  const { message, code } = error as NodeJS.ErrnoException;
  return /ECONNREFUSED|ECONNRESET|socket hang up|aborted|connection ended|not available|HTTP 503/.test(
    `${code ?? ""} ${message}`,
  );
}
