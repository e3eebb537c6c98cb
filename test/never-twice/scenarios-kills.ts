/** Processes that die, or hang, between any two steps. */
import { addsJob, createsRecord, isApply, type RedisCommand } from "../harness/process-redis.js";
import { until } from "../harness/processes.js";
import type { Random } from "./random.js";
import { drawnPause, type Scenario } from "./scenario.js";
import { isTold, type Stage } from "./stage.js";

/** A place in the stream of commands: the n-th of all, or the n-th that writes an operation. */
function drawnPlace(random: Random, most: number): (command: RedisCommand) => boolean {
  const isWrite = random.chance(0.5);
  let left = random.whole(1, isWrite ? 3 : most);
  return (command) => {
    if (isWrite && !isApply(command)) return false;
    left -= 1;
    return left === 0;
  };
}

/** Kills a member at a drawn command; resolves when it is dead. Whoever is not struck by then is killed. */
function strike(
  stage: Stage,
  who: "gateway" | "worker",
  most: number,
): { dead(limitMs: number): Promise<void> } {
  const member = stage.world[who];
  const { ended } = member.process;
  stage.killed();
  member.line.cutAt(stage.random.pick(["before", "after"]), drawnPlace(stage.random, most), () => {
    void member.kill();
  });
  return {
    async dead(limitMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(() => resolve(member.kill()), limitMs);
      });
      await Promise.race([ended, late]);
      clearTimeout(timer);
      await ended;
    },
  };
}

export const gatewayKilled: Scenario = {
  name: "gateway SIGKILL",
  story: "the gateway dies at a drawn command to Redis; the callers come back to the next one",
  async play(stage) {
    const { random, world } = stage;
    const wish = stage.wish(random.between(0.2, 0.6));
    const client = await stage.http();
    const other = await stage.http();
    const { dead } = strike(stage, "gateway", 60);
    const asked = [wish.ask(client, random.between(0.1, 3))];
    if (random.chance(0.5)) asked.push(wish.ask(other, random.between(0.1, 3)));
    const answered = Promise.allSettled(asked.map(({ answer }) => answer));
    await Promise.race([answered, world.gateway.process.ended]);
    await dead(random.between(0, 400));
    await answered;
    await world.gateway.start();
    const back = random.shuffled([client, other, await stage.http()]);
    if (random.chance(0.5)) await Promise.all(back.map((each) => wish.untilTold(each)));
    else for (const each of back) await wish.untilTold(each);
  },
};

export const gatewayKilledBetweenRecordAndJob: Scenario = {
  name: "gateway SIGKILL between record and job",
  story: "the record is written, its job never added; a retry, another process or the sweeper adds it",
  async play(stage) {
    const { random, world } = stage;
    const wish = stage.wish(random.between(0.2, 0.5));
    const client = await stage.http();
    const joiner = random.pick(["the same client", "another session", "a stdio process", "nobody"]);
    const stdio = joiner === "a stdio process" ? await stage.newStdio() : undefined;
    const { gateway } = world;
    const { ended } = gateway.process;
    const [when, place] = random.pick([["before", addsJob] as const, ["after", createsRecord] as const]);
    stage.killed();
    gateway.line.cutAt(when, place, () => void gateway.kill());
    const lost = wish.ask(client, 5);
    await ended;
    await lost.answer.then(
      (told) => Promise.reject(new Error(`answered all the same: ${JSON.stringify(told)}`)),
      () => undefined,
    );
    const [logId = ""] = await world.hand.zrevrange("{ujb}:principal:local", 0, 0);
    const doc = await world.hand.hget(`{ujb}:operation:${logId}`, "doc");
    if (!stdio && !doc?.includes('"state":"accepted"')) throw new Error(`not between record and job: ${doc}`);
    if (stdio) await wish.untilTold(stdio);
    await gateway.start();
    if (joiner === "nobody") await wish.begun();
    if (joiner === "another session") await wish.untilTold(await stage.http());
    await wish.untilTold(client);
  },
};

export const workerKilled: Scenario = {
  name: "worker SIGKILL",
  story:
    "the Editor's owner dies at a drawn command to Redis; the next one finds out what is known and goes on",
  async play(stage) {
    const { random, world } = stage;
    const wish = stage.wish(random.between(0.2, 0.6));
    const client = await stage.http();
    const { dead } = strike(stage, "worker", 40);
    await wish.call(client, random.between(0, 0.3));
    await dead(random.between(0, 1000));
    const second = await stage.http();
    const waiting = wish.ask(second, 20);
    await world.worker.start();
    await wish.untilTold(client);
    await waiting.answer;
  },
};

export const workerHangs: Scenario = {
  name: "worker hangs and wakes",
  story: "the owner stands still beyond its lease; another takes over; then the first one wakes",
  async play(stage) {
    const { random, world } = stage;
    const wish = stage.wish(random.between(0.2, 0.6));
    const client = await stage.http();
    // The other owner-to-be.
    const stdio = await stage.newStdio();
    await wish.call(client, random.between(0, 0.2));
    await drawnPause(random.between(0, 400));
    const { process } = world.worker;
    stage.killed();
    process.signal("SIGSTOP");
    try {
      if (random.chance(0.7)) await wish.untilTold(client);
      else await drawnPause(random.between(500, 2500));
    } finally {
      process.signal("SIGCONT");
    }
    await wish.untilTold(stdio);
    await wish.untilTold(client);
  },
};

export const stdioKilled: Scenario = {
  name: "stdio process SIGKILL",
  story: "the client's own broker process dies with its worker; the client starts another and calls again",
  async play(stage) {
    const { random } = stage;
    const wish = stage.wish(random.between(0.3, 0.8));
    const first = await stage.newStdio();
    const asked = wish.ask(first, 20);
    if (random.chance(0.5)) await wish.begun();
    await drawnPause(random.between(0, 600));
    stage.killed();
    await first.process.kill();
    await asked.answer.catch(() => undefined);
    const second = await stage.newStdio();
    await wish.untilTold(second);
    await wish.untilTold(await stage.http());
  },
};

export const redisKilled: Scenario = {
  name: "Redis SIGKILL",
  story: "the store dies and comes back from its AOF while the call waits or runs",
  async play(stage) {
    const { random, world } = stage;
    const wish = stage.wish(random.between(0.2, 0.8));
    const client = await stage.http();
    const asked = wish.ask(client, random.between(0, 2));
    await asked.sent;
    await drawnPause(random.between(0, 700));
    stage.killed();
    await world.redis.kill();
    await drawnPause(random.between(0, 300));
    await world.redis.restart();
    await asked.answer.catch(() => undefined);
    await wish.untilTold(await stage.http());
    await wish.untilTold(client);
  },
};

export const interruptedAndRetried: Scenario = {
  name: "retry after interrupted",
  story: "the Editor crashes in the middle; the identical call is never run again until force_new says so",
  async play(stage) {
    const { random, world } = stage;
    const wish = stage.wish(random.between(0.4, 0.8));
    const client = await stage.http();
    const waiting = wish.ask(client, 20);
    await wish.begun();
    await drawnPause(random.between(0, 250));
    stage.killed();
    await world.editor.do({ do: "crash", keepUnflushed: random.chance(0.5) });
    if (random.chance(0.5)) await wish.call(await stage.http(), 0.1);
    await world.editor.do({ do: "restart" });
    const told = await waiting.answer;
    if (told.error_code !== "OUTCOME_UNKNOWN") throw new Error(`not interrupted: ${JSON.stringify(told)}`);
    // Read, and so confirmed: it stays unknown all the same (▲9).
    const read = await client.call("get_operation_result", { log_id: wish.logId });
    wish.note(read);
    for (const each of random.shuffled([client, client, await stage.http()])) await wish.untilTold(each);
    const second = wish.again();
    const forced = { forceNew: wish.logId as string };
    const done = await second.untilTold(client, forced);
    if (!isTold(done) || done.status !== "completed")
      throw new Error(`the forced run: ${JSON.stringify(done)}`);
    await second.untilTold(await stage.http(), forced);
    await until("the Editor is served again", async () => {
      const { editors } = (await client.call("list_editors", {})) as unknown as {
        editors: { connected: boolean }[];
      };
      return editors.every(({ connected }) => connected);
    });
  },
};
