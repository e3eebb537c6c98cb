/** An answer stays cheap: what an estimate reads is bounded, however much is open. */
import { expect, test } from "vitest";
import { singleRequest } from "../../../src/gateway/exchange.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("of a full Editor of its pool an estimate reads no more than it may count", async () => {
  const system = await start({ editor: { labels: ["android"] }, maxQueued: 1_000, commandTimeoutMs: 60_000 });
  const { client, bench, editor, hand } = system;
  const ann = client();
  const named = { editor: editor.editorId };
  await ann.submit("work", { Name: "held", Hold: true }, named);
  await bench.begins("held");
  const waiting = await Promise.all(
    Array.from({ length: 300 }, (_, at) => ann.submit("work", { Name: `n${at}` }, named)),
  );
  const { logId } = (await ann.submit("work", { Name: "pooled" }, { editor: "pool:android" })).record;
  const commands = async (): Promise<number> =>
    Number(/total_commands_processed:(\d+)/.exec(await hand.info("stats"))?.[1]);
  const reading = async (): Promise<number> => {
    const before = await commands();
    const answer = answerOf(await ann.until(logId, () => true));
    expect(answer).not.toHaveProperty("estimated_start_seconds");
    return (await commands()) - before;
  };
  // What the processes do meanwhile only adds to it; without the limit it is some 690.
  const used = [await reading(), await reading(), await reading()];
  expect(Math.min(...used)).toBeLessThan(400);
  await Promise.all(
    waiting.map(({ record }) => system.broker.cancel("ann", record.logId, singleRequest("http"))),
  );
  bench.finish("held");
  await ann.outcome(logId);
});
