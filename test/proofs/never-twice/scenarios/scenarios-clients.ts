/** Clients that give up, come back, and never hear of an answer. */

import type { HttpClient } from "../../../harness/processes/process-clients.js";
import { until } from "../../../harness/processes/processes.js";
import { type Cable, layCable } from "../../../harness/system/cable.js";
import { drawnPause } from "../../engine/random.js";
import type { Intent, Stage } from "../stage.js";
import { endOfLatest } from "./lost-answers.js";
import type { Scenario } from "./scenario.js";

/** Around the moment at which the Editor ends it; the drawn jitter goes both ways. */
async function aroundTheEnd(intent: Intent, jitterMs: number): Promise<void> {
  await intent.begun();
  await drawnPause(intent.seconds * 1000 + jitterMs);
}

/** Resolves when an outcome counts as delivered to somebody. */
export async function delivered(stage: Stage, logId: string): Promise<void> {
  await until("the outcome was written to somebody", async () => {
    const doc = await stage.world.hand.hget(`{ujb}:operation:${logId}`, "doc");
    return doc?.includes('"firstDeliveredAt"');
  });
}

export const reissueAfterAnother: Scenario = {
  name: "re-issue after another's answer",
  story: "the call is sent again just after another waiter received the outcome",
  async play(stage) {
    const { random } = stage;
    const intent = stage.intent(random.between(0.2, 0.8));
    const impatient = await stage.http();
    const patient = await stage.http();
    await intent.call(impatient, random.between(0, 0.15));
    const other = random.pick([
      "call in another session",
      "result in another session",
      "call in the same session",
    ]);
    const waiter =
      other === "result in another session"
        ? patient
            .call("get_operation_result", { log_id: intent.logId, wait: true, timeout: 20 })
            .then(intent.note)
        : intent.call(other === "call in the same session" ? impatient : patient, 20);
    if (random.chance(0.5)) await waiter;
    else await aroundTheEnd(intent, random.between(-30, 60));
    await drawnPause(random.between(0, 25));
    await intent.untilTold(impatient);
    await waiter;
    // Again, by both: nobody has said that he read it in that session, except who named the log_id.
    await intent.untilTold(impatient);
    if (other !== "result in another session") await intent.untilTold(patient);
  },
};

export const abortBeforeTheEnd: Scenario = {
  name: "abort just before the end",
  story: "the waiting caller gives its request up around the moment of the outcome, and calls again",
  async play(stage) {
    const { random } = stage;
    const intent = stage.intent(random.between(0.2, 0.7));
    const isStdio = random.chance(0.4);
    const client = isStdio ? await stage.newStdio() : await stage.http();
    const waiting = intent.ask(client, 20);
    await aroundTheEnd(intent, random.between(-60, 60));
    const how = isStdio ? "cancelled" : random.pick(["cancelled", "hung up", "both"]);
    if (how !== "hung up") await client.giveUp(waiting.id);
    if (how !== "cancelled") waiting.hangUp();
    await drawnPause(random.between(0, 30));
    await intent.untilTold(client);
    if (!isStdio) await intent.untilTold(client);
  },
};

export const halfOpenConnection: Scenario = {
  name: "half-open HTTP client",
  story: "the answer goes into a connection whose client is gone without a word; the client comes back",
  async play(stage) {
    const { random, world } = stage;
    const intent = stage.intent(random.between(0.2, 0.6));
    await overCable(stage, async (client, cable, move) => {
      const lost = intent.ask(client, 20);
      await intent.begun();
      await drawnPause(random.between(0, intent.seconds * 1000));
      cable.hold();
      await delivered(stage, await endOfLatest(world));
      move();
      if (random.chance(0.5)) await client.request("ping");
      await intent.untilTold(client);
      if (random.chance(0.5)) cable.cut();
      await intent.untilTold(await stage.http());
      await intent.untilTold(client);
      lost.hangUp();
    });
  },
};

/** A session whose way to the gateway is a cable until it `move`s: to another network, in the same session. */
export async function overCable(
  { world, http }: Stage,
  play: (client: HttpClient, cable: Cable, move: () => void) => Promise<void>,
): Promise<void> {
  const cable = await layCable(() => ({ host: "127.0.0.1", port: Number(new URL(world.url()).port) }));
  try {
    let url = `http://127.0.0.1:${cable.port}/mcp`;
    const move = (): void => {
      url = world.url();
    };
    await play(await http(() => url), cable, move);
  } finally {
    await cable.close();
  }
}

export const manyAtOnce: Scenario = {
  name: "many at once",
  story: "many sessions send the same call at the same moment, and again when their waits end",
  async play(stage) {
    const { random } = stage;
    const intent = stage.intent(random.between(0.2, 0.5));
    const clients = await Promise.all(Array.from({ length: random.whole(3, 8) }, () => stage.http()));
    await Promise.all(clients.map((client) => intent.call(client, random.between(0, 0.4))));
    await Promise.all(clients.map((client) => intent.untilTold(client)));
  },
};

export const doubledOnTheWay: Scenario = {
  name: "doubled on the way",
  story:
    "a proxy sends the very same request again, id and all, while the first copy waits or after its answer",
  async play(stage) {
    const { random } = stage;
    const intent = stage.intent(random.between(0.1, 0.4));
    const client = await stage.http();
    const id = client.nextId();
    const first = intent.ask(client, 20, { id });
    await drawnPause(random.between(0, 600));
    const copies = Array.from({ length: random.whole(1, 3) }, () => intent.ask(client, 20, { id }));
    // The newest copy is answered; older ones may be, or their connections end without an answer.
    const reported = await Promise.allSettled([first, ...copies].map(({ answer }) => answer));
    if (reported.at(-1)?.status !== "fulfilled")
      throw new Error(`the newest copy was not answered: ${reported.at(-1)}`);
    await intent.untilTold(client);
    await intent.call(client, 5, { id });
  },
};

export const forceNewAgain: Scenario = {
  name: "re-issued force_new",
  story: "a deliberate second run times out and is sent again as it was, by several",
  async play(stage) {
    const { random, world } = stage;
    const first = stage.intent(random.between(0.1, 0.3));
    const client = await stage.http();
    await first.untilTold(client);
    const superseded = first.logId as string;
    const second = first.again();
    const forced = { forceNew: superseded };
    const attempt = second.ask(client, random.between(0, 0.2), forced);
    if (random.chance(0.3)) {
      await attempt.sent;
      await drawnPause(random.between(0, 150));
      stage.killed();
      await world.gateway.kill();
      await world.gateway.start();
    } else await attempt.answer;
    const others = [client, await stage.http(), await stage.http()];
    await Promise.all(others.map((each) => second.untilTold(each, forced)));
    await second.untilTold(client, forced);
    if (first.logId === second.logId) throw new Error("force_new did not run it again");
  },
};
