import { expect, test } from "vitest";
import { channels } from "../../../src/shared/store/keys.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** The safety net hangs an hour below: a wait that ends in this file was woken by a message. */
const HOUR = 3_600_000;

test("a hundred waits for one operation, in two gateways, all end with it", async () => {
  const { client, bench, broker, addGateway } = await start({ gateway: { safetyPollMs: HOUR } });
  const other = await addGateway();
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await bench.begins("a");
  const waits = Array.from({ length: 100 }, (_, index) =>
    (index % 2 ? broker : other.broker).wait("ann", record.logId, { ms: HOUR }),
  );
  bench.finish("a");
  for (const view of await Promise.all(waits)) {
    expect(view).toMatchObject({ record: { state: "completed" }, result: '{"Done":"a"}' });
  }
});

test("a hundred operations, each with its own wait, all end", async () => {
  const { client, broker, bench } = await start({ gateway: { safetyPollMs: HOUR } });
  const ann = client();
  const waits = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const { record } = await ann.submit("work", { Name: `a${index}` });
      return broker.wait("ann", record.logId, { ms: HOUR });
    }),
  );
  const states = waits.map((view) => (typeof view === "object" ? view.record.state : view));
  expect(states).toEqual(Array(100).fill("completed"));
  expect(new Set(bench.begun).size).toBe(100);
});

test("a wait that begins after the end, or in the same moment, is answered", async () => {
  const { client, bench, broker } = await start({ gateway: { safetyPollMs: HOUR } });
  const ann = client();
  for (let round = 0; round < 20; round += 1) {
    const { record } = await ann.submit("work", { Name: `a${round}`, Hold: true });
    await bench.begins(`a${round}`);
    const wait = broker.wait("ann", record.logId, { ms: HOUR });
    bench.finish(`a${round}`);
    expect(await wait).toMatchObject({ record: { state: "completed" } });
    expect(await broker.wait("ann", record.logId, { ms: HOUR })).toMatchObject({
      record: { state: "completed" },
    });
  }
});

test("where the message is lost, the slow look finds the end", async () => {
  const { client, bench, broker, hand } = await start({ gateway: { safetyPollMs: 100 } });
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  await ann.reaches(record.logId, "running");
  const wait = broker.wait("ann", record.logId, { ms: HOUR });
  await hand.call("CLIENT", "KILL", "TYPE", "PUBSUB");
  bench.finish("a");
  expect(await wait).toMatchObject({ record: { state: "completed" } });
});

test("many messages of Editors are few reads of the store", async () => {
  const { addGateway, editor, hand } = await start();
  const gateway = await addGateway();
  const commands = async (): Promise<number> =>
    Number(/total_commands_processed:(\d+)/.exec(await hand.info("stats"))?.[1]);
  const before = await commands();
  const messages = 500;
  const heard = new Promise<void>((resolve) => {
    let count = 0;
    const stop = gateway.store.notifier.on("editors", () => {
      count += 1;
      if (count < messages) return;
      stop();
      resolve();
    });
  });
  await Promise.all(Array.from({ length: messages }, () => hand.publish(channels.editors, editor.editorId)));
  await heard;
  // Ends what was begun.
  await gateway.close();
  expect((await commands()) - before).toBeLessThan(5 * messages);
});
