/** Processes that die, or hang, between any two steps. */

import type { TestClient } from "../../../harness/processes/process-clients.js";
import { until } from "../../../harness/processes/processes.js";
import { createsRecord } from "../../../harness/redis/process-redis.js";
import { drawnPlace } from "../../engine/drawn-place.js";
import { inTime } from "../../engine/in-time.js";
import { isFinal } from "../../engine/outcomes.js";
import { drawnPause } from "../../engine/random.js";
import type { Intent, Stage } from "../stage.js";
import type { Scenario } from "./scenario.js";

/** Kills a member at a drawn command; resolves when it is dead. A process that is not struck by then is killed. */
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
      await inTime(ended, limitMs).catch(member.kill);
    },
  };
}

/** How many operations were ever accepted. */
const accepted = ({ world }: Stage): Promise<number> => world.hand.zcard("{ujb}:principal:local");

/** However slow the answer was, its client has read it: it names the operation. */
async function untilRead(intent: Intent, client: TestClient): Promise<void> {
  const { log_id } = await intent.untilTold(client);
  await client.call("get_operation_result", { log_id });
}

export const gatewayKilled: Scenario = {
  name: "gateway SIGKILL",
  story: "the gateway dies at a drawn command to Redis; the callers come back to the next one",
  async play(stage) {
    const { random, world } = stage;
    const intent = stage.intent(random.between(0.2, 0.6));
    const client = await stage.http();
    const other = await stage.http();
    const { dead } = strike(stage, "gateway", 60);
    const asked = [intent.ask(client, random.between(0.1, 3))];
    if (random.chance(0.5)) asked.push(intent.ask(other, random.between(0.1, 3)));
    const answered = Promise.allSettled(asked.map(({ answer }) => answer));
    await Promise.race([answered, world.gateway.process.ended]);
    await dead(random.between(0, 400));
    await answered;
    await world.gateway.start();
    const back = random.shuffled([client, other, await stage.http()]);
    if (random.chance(0.5)) await Promise.all(back.map((each) => intent.untilTold(each)));
    else for (const each of back) await intent.untilTold(each);
  },
};

export const gatewayKilledAtCreation: Scenario = {
  name: "gateway SIGKILL at the creation",
  story:
    "the script that creates the operation was never sent, or its answer never came; then a retry, or nobody",
  async play(stage) {
    const { random, world } = stage;
    const intent = stage.intent(random.between(0.2, 0.5));
    const client = await stage.http();
    const joiner = random.pick(["the same client", "another session", "a stdio process", "nobody"]);
    const stdio = joiner === "a stdio process" ? await stage.newStdio() : undefined;
    const { gateway } = world;
    const { ended } = gateway.process;
    const when = random.pick(["before", "after"] as const);
    const earlier = await accepted(stage);
    stage.killed();
    gateway.line.cutAt(when, createsRecord, () => void gateway.kill());
    const lost = intent.ask(client, 5);
    await ended;
    await lost.answer.then(
      (reported) => Promise.reject(new Error(`answered all the same: ${JSON.stringify(reported)}`)),
      () => undefined,
    );
    // A script that was answered may have refused, and would have been sent again.
    const made = (await accepted(stage)) - earlier;
    if (!stdio && made > (when === "after" ? 1 : 0)) throw new Error(`${made} created, cut ${when} it`);
    // Nobody knows of the lost one that was never made: what the process calls and reads is its own.
    if (stdio) await untilRead(when === "before" ? intent.again() : intent, stdio);
    await gateway.start();
    if (joiner === "nobody" && made > 0) await intent.begun();
    if (joiner === "another session") await intent.untilTold(await stage.http());
    await intent.untilTold(client);
  },
};

export const workerKilled: Scenario = {
  name: "worker SIGKILL",
  story:
    "the Editor's owner dies at a drawn command to Redis; the next one finds out what is known and goes on",
  async play(stage) {
    const { random, world } = stage;
    const intent = stage.intent(random.between(0.2, 0.6));
    const client = await stage.http();
    const { dead } = strike(stage, "worker", 40);
    await intent.call(client, random.between(0, 0.3));
    await dead(random.between(0, 1000));
    const second = await stage.http();
    const waiting = intent.ask(second, 20);
    await world.worker.start();
    await intent.untilTold(client);
    await waiting.answer;
  },
};

export const workerHangs: Scenario = {
  name: "worker hangs and wakes",
  story: "the owner stands still beyond its lease; another takes over; then the first one wakes",
  async play(stage) {
    const { random, world } = stage;
    const intent = stage.intent(random.between(0.2, 0.6));
    const client = await stage.http();
    // The other owner-to-be.
    const stdio = await stage.newStdio();
    await intent.call(client, random.between(0, 0.2));
    await drawnPause(random.between(0, 400));
    const { process } = world.worker;
    stage.killed();
    process.signal("SIGSTOP");
    try {
      if (random.chance(0.7)) await intent.untilTold(client);
      else await drawnPause(random.between(500, 2500));
    } finally {
      process.signal("SIGCONT");
    }
    await intent.untilTold(stdio);
    await intent.untilTold(client);
  },
};

export const stdioKilled: Scenario = {
  name: "stdio process SIGKILL",
  story: "the client's own broker process dies with its worker; the client starts another and calls again",
  async play(stage) {
    const { random } = stage;
    const intent = stage.intent(random.between(0.3, 0.8));
    const earlier = await accepted(stage);
    const first = await stage.newStdio();
    const asked = intent.ask(first, 20);
    if (random.chance(0.5)) await intent.begun();
    await drawnPause(random.between(0, 600));
    stage.killed();
    await first.process.kill();
    const told = await asked.answer.catch(() => undefined);
    // Who has the outcome does not come back for it: what others call then is meant anew.
    if (told && isFinal(told)) return;
    const second = await stage.newStdio();
    // The store has had the time to read what the killed one sent last.
    const isOwed = (await accepted(stage)) > earlier;
    await untilRead(intent, second);
    // It is owed to the killed one too, unless its call never arrived.
    await (isOwed ? intent : intent.again()).untilTold(await stage.http());
  },
};

export const redisKilled: Scenario = {
  name: "Redis SIGKILL",
  story: "the store dies and comes back from its AOF while the call waits or runs",
  async play(stage) {
    const { random, world } = stage;
    const intent = stage.intent(random.between(0.2, 0.8));
    const client = await stage.http();
    const asked = intent.ask(client, random.between(0, 2));
    await asked.sent;
    await drawnPause(random.between(0, 700));
    stage.killed();
    await world.redis.kill();
    await drawnPause(random.between(0, 300));
    await world.redis.restart();
    await asked.answer.catch(() => undefined);
    await intent.untilTold(await stage.http());
    await intent.untilTold(client);
  },
};

export const interruptedAndRetried: Scenario = {
  name: "retry after interrupted",
  story: "the Editor crashes in the middle; the identical call is never run again until force_new says so",
  async play(stage) {
    const { random, world } = stage;
    const intent = stage.intent(random.between(0.4, 0.8));
    const client = await stage.http();
    const waiting = intent.ask(client, 20);
    await intent.begun();
    await drawnPause(random.between(0, 250));
    stage.killed();
    await world.editor.do({ do: "crash", keepUnflushed: random.chance(0.5) });
    if (random.chance(0.5)) await intent.call(await stage.http(), 0.1);
    await world.editor.do({ do: "restart" });
    const answer = await waiting.answer;
    // A busy machine takes longer than the wait to start the Editor again.
    const reported = isFinal(answer) ? answer : await intent.untilTold(client);
    if (reported.error_code !== "OUTCOME_UNKNOWN")
      throw new Error(`not interrupted: ${JSON.stringify(reported)}`);
    // Read, and so confirmed: it stays unknown all the same (▲9).
    const read = await client.call("get_operation_result", { log_id: intent.logId });
    intent.note(read);
    for (const each of random.shuffled([client, client, await stage.http()])) await intent.untilTold(each);
    const second = intent.again();
    const forced = { forceNew: intent.logId as string };
    const done = await second.untilTold(client, forced);
    if (!isFinal(done) || done.status !== "completed")
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
