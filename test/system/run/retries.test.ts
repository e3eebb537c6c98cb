/** The same `run` again: a runner that died gets its operation back, and a person who wants another run gets one. */
import { expect, test } from "vitest";
import { runningBrokers } from "../../harness/processes/brokers.js";
import { until } from "../../harness/processes/processes.js";
import { blocks, tests, useSteps } from "./steps.js";

const { type, step, start, simulate, executions, here } = useSteps();

const menu = (seconds: number, ...more: string[]) => ["execute-menu-item", blocks(seconds), ...more];

/** The operation of a call whose outcome nobody waits for. */
async function accepted([tool = "", args = "", ...more]: string[]): Promise<string> {
  const { stdout } = await type(["call", tool, "--json", args, ...more, "--timeout", "0"]);
  return (JSON.parse(stdout) as { log_id: string }).log_id;
}

test("a runner that died is started again, finds its operation, and reads an outcome that nobody has read", async () => {
  await simulate();
  const build = menu(20, "--key", "pipeline 7 build");
  const died = start("runner that dies", ["run", ...build]);
  const [, logId] = await died.line(/^log_id (\S+)$/);
  await until("it runs", () => executions() === 1);
  await died.kill("SIGKILL");
  const again = await step(build);
  expect(again).toMatchObject({
    code: 0,
    answer: { log_id: logId, deduplicated: true, status: "completed" },
  });
  expect(again.stderr).toContain(`This call is under way as ${logId}`);
  expect(executions()).toBe(1);

  // Its outcome was written to a process that did not say that it had read it.
  const unread = menu(0.5, "--key", "unread");
  const left = await accepted(unread);
  const shown = await type(["result", left, "--follow"]);
  expect(shown.stdout).toMatch(/^completed/);
  const read = await step(unread);
  expect(read).toMatchObject({ code: 0, answer: { log_id: left, deduplicated: true } });
  expect(read.stderr).toContain("Not run again");
  expect(executions()).toBe(2);
});

test.each([
  ["with a key", ["--key", "pipeline 7"]],
  ["without one", []],
])(
  "an outcome that was read: the same command runs again, and says so; --once, which needs a key, does not, %s",
  async (_what, key) => {
    await simulate();
    for (const [args, result] of [
      [menu(0, ...key), { Success: true }],
      [["run-tests", tests(2, 1), ...key.map((word) => word.replace("7", "8"))], { Success: false }],
    ] as const) {
      const ran = executions();
      const first = await step([...args]);
      expect(first.answer).toMatchObject({ status: "completed", result });
      expect(first.answer).not.toHaveProperty("deduplicated");

      if (key.length > 0) {
        const once = await step([...args, "--once"]);
        expect(once).toMatchObject({
          code: first.code,
          answer: { log_id: first.answer.log_id, deduplicated: true },
        });
        expect(executions()).toBe(ran + 1);
      }
      const second = await step([...args]);
      expect(second.answer).not.toHaveProperty("deduplicated");
      expect(second.answer.log_id).not.toBe(first.answer.log_id);
      // Without a key the broker decides: nothing is superseded.
      if (key.length > 0)
        expect(second.stderr).toContain(
          `The outcome of ${first.answer.log_id} was read before: it runs again`,
        );
      // The newest one counts, not the one that it superseded.
      const third = await step([...args]);
      expect(third.answer.log_id).not.toBe(second.answer.log_id);
      expect(executions()).toBe(ran + 3);
    }
  },
);

test("runners that retry at once run it once more, together", async () => {
  await simulate();
  const args = menu(0, "--key", "deploy");
  const first = await step(args);
  for (let round = 1; round <= 2; round += 1) {
    const longer = menu(4, "--key", `deploy ${round}`);
    const before = await accepted(longer);
    expect((await step(longer)).answer.log_id).toBe(before);
    const ran = executions();
    const retries = await Promise.all([1, 2, 3].map(() => step(longer)));
    expect(new Set(retries.map(({ answer }) => answer.log_id)).size).toBe(1);
    expect(retries.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(executions()).toBe(ran + 1);
  }
  // One that comes so late that the other's retry has ended: what it supersedes identifies the retry.
  const second = await step(args);
  const late = await type([
    "call",
    ...menu(0).slice(0, 1),
    "--json",
    blocks(0),
    "--key",
    "deploy",
    "--force-new",
    String(first.answer.log_id),
  ]);
  expect(JSON.parse(late.stdout)).toMatchObject({ log_id: second.answer.log_id, deduplicated: true });
});

test("a broker that is killed and comes back ends no wait", async () => {
  await simulate();
  const runner = step(menu(4, "--key", "long"));
  await until("it runs", () => executions() === 1);
  const [pid = 0] = runningBrokers(here().env);
  process.kill(pid, "SIGKILL");
  const { code, answer, stderr } = await runner;
  expect(code, stderr).toBe(0);
  expect(answer).toMatchObject({ status: "completed" });
  expect(executions()).toBe(1);
});

test("nor does a gateway elsewhere", async () => {
  await simulate();
  start("worker", ["worker"]);
  const serve = async (port: string) => {
    const gateway = start("gateway", ["gateway", "--port", port, "--insecure-local"]);
    const [, url = ""] = await gateway.line(/^MCP endpoint: (.*)$/);
    return { gateway, url };
  };
  const { gateway, url } = await serve("0");
  const through = { UNITY_BROKER_URL: url };
  await until("the Editor is known", async () => (await type(["tools"], through)).stdout.includes("ping"));
  const runner = step(menu(6, "--key", "long"), through);
  await until("it runs", () => executions() === 1);
  await gateway.kill("SIGKILL");
  const abandoned = await step(menu(6, "--key", "long", "--wait", "1s"), through);
  expect(abandoned).toMatchObject({ code: 2 });
  await serve(new URL(url).port);
  const { code, answer, stderr } = await runner;
  expect(code, stderr).toBe(0);
  // The client takes its broken stream up again by itself, unless the gateway is away for longer than it tries: then it is said.
  expect(answer).toMatchObject({ status: "completed" });
  expect(executions()).toBe(1);
});
