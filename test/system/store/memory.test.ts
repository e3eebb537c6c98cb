/** What the store takes of an ended operation. The growth of a whole store is `npm run bench-calls`'s. */
import { expect, test } from "vitest";
import { BULL_PREFIX, keys } from "../../../src/shared/store/keys.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("an ended operation with a result of 100 bytes is three keys, and at most 2.2 kB beside its job", async () => {
  const system = await start();
  const ann = system.client();
  const run = async (number: number): Promise<void> => {
    const { record } = await ann.submit("work", { Name: "x".repeat(90 - 3) + String(number).padStart(3) });
    await ann.outcome(record.logId);
  };
  const stored = async (): Promise<{ keys: number; bytes: number }> => {
    const found = (await system.hand.keys("*")).filter(
      // The events are no operation's: only so many are kept.
      (key) => !key.startsWith(BULL_PREFIX) && key !== keys.events,
    );
    const sizes = await Promise.all(found.map((key) => system.hand.memory("USAGE", key)));
    return { keys: found.length, bytes: sizes.reduce<number>((sum, size) => sum + Number(size), 0) };
  };
  // The lists that grow with each operation have left their small form.
  const [few, many] = [150, 250];
  for (let number = 0; number < few; number += 1) await run(number);
  const before = await stored();
  for (let number = few; number < many; number += 1) await run(number);
  const after = await stored();
  expect(after.keys - before.keys).toBe(3 * (many - few));
  expect((after.bytes - before.bytes) / (many - few)).toBeLessThanOrEqual(2_200);
});
