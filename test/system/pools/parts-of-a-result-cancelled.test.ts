/** The same fault as in attack-twice.test.ts, without a pool: what ran is called never started. */
import { pbkdf2, randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const PART = 4 * 1024 * 1024;
const START = '{"Text":"'.length;
const filler = randomBytes(PART).toString("base64");
const TEXT = [
  filler.slice(0, PART - START - 6_000),
  "y".repeat(6_000),
  filler.slice(0, PART - 6_000),
  "z".repeat(6_000),
  filler.slice(0, PART),
].join("");
const onTheWire = (text: string): string => Buffer.from(text.repeat(3)).toString("base64").repeat(20);

test("▲12 an operation that ran is not cancelled as unsent after its Editor died between two parts of its result", async () => {
  const system = await start({ worker: null });
  const { bench, editor } = system;
  await editor.close();
  const big = {
    ...bench.tools[0],
    name: "big",
    run: async ({ args }: { args: { text(name: string): string } }) => {
      bench.begun.push(args.text("Name"));
      return { Text: TEXT };
    },
  } as never;
  const first = await system.addEditor({ tools: [big] });
  const { toEditor } = await system.addCabledWorker(first);
  await system.present(first);
  const ann = system.client();
  const busy = toEditor
    .heard(onTheWire("y"))
    .then(() => Promise.all([1, 2, 3, 4].map(() => promisify(pbkdf2)("", "", 1_500_000, 64, "sha512"))));
  const dead = toEditor.heard(onTheWire("z")).then(async () => {
    for (let turns = 0; turns < 2_000; turns += 1) await turn();
    toEditor.cut();
  });
  const { record } = await ann.submit("big", { Name: "a" }, { editor: first.editorId });
  await dead;
  await busy;
  await first.faults.crash({ keepUnflushed: true });
  await system.away(first);
  // The lane waits for the Editor again.
  while (!system.warnings.some((line) => line.includes("asking again"))) await turn();
  const cancelled = await system.broker.cancel("ann", record.logId, ann.callOf("work"));
  const { state } = (cancelled as { record: { state: string } }).record;
  expect({ state, runs: system.executions("a") }).not.toEqual({ state: "cancelled", runs: 1 });
}, 60_000);
