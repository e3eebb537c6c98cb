/** `unity-broker editors pause`, `drain` and `resume`, as an operator types them. */
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { readEndpoint } from "../../../src/embedded-redis/endpoint.js";
import { until } from "../../harness/processes/processes.js";
import { blocks, useSteps } from "./steps.js";

const { type, simulate, start, executions, here, closeLater } = useSteps();

const called = async (...args: string[]) => {
  const { stdout, stderr } = await type(["call", "execute-menu-item", ...args]);
  return JSON.parse(stdout || `{"stderr":${JSON.stringify(stderr)}}`) as Record<string, string>;
};

test("drain ends when nothing runs there; what is called meanwhile waits, says why, and runs once after resume", async () => {
  await simulate();
  const first = await called("--json", blocks(12), "--timeout", "0");
  await until("it runs", () => executions() === 1);
  const drain = start("drain", ["editors", "drain", "simulated-project"]);
  await until("it says what it waits for", () =>
    drain.stderr.includes(`is paused; it still runs execute-menu-item (${first.log_id})`),
  );
  const second = await called("--json", blocks(0.1), "--timeout", "0");
  expect(second).toMatchObject({ state: "queued", message: expect.stringContaining("the Editor is paused") });
  await until("it ends", () => drain.stdout.includes("nothing runs there any more"));
  expect(await drain.ended).toMatchObject({ code: 0 });
  const after = JSON.parse((await type(["status", String(first.log_id), "--json"])).stdout);
  expect(after).toMatchObject({ state: "completed" });
  expect((await type(["editors"])).stdout).toMatch(/ready, paused/);
  expect(executions()).toBe(1);

  const resumed = await type(["editors", "resume", "simulated-project", "--json"]);
  expect(JSON.parse(resumed.stdout)).toMatchObject({
    editor: { project: "Simulated Project" },
    paused: false,
  });
  expect((await type(["result", String(second.log_id), "--follow"])).code).toBe(0);
  expect(executions()).toBe(2);
  expect((await type(["editors"])).stdout).not.toContain("paused");
});

test("drain waits for a Redis that is away, says so once, and ends when nothing runs", async () => {
  await simulate();
  // Longer than a full machine takes to start the next process.
  const first = await called("--json", blocks(20), "--timeout", "0");
  await until("it runs", () => executions() === 1);
  const drain = start("drain", ["editors", "drain", "simulated-project"]);
  await until("it waits", () => drain.stderr.includes("it still runs execute-menu-item"));
  const endpoint = readEndpoint(join(here().dataDir, "redis"));
  const hand = new Redis({ ...endpoint?.address });
  closeLater(() => hand.quit());
  // Every read is refused, as by a replica whose primary is gone.
  await hand.config("SET", "replica-serve-stale-data", "no");
  await hand.replicaof("127.0.0.1", 1);
  await until("it has noticed", () => drain.stderr.includes("No answer from Redis"));
  await hand.replicaof("NO", "ONE");
  expect(await drain.ended).toMatchObject({ code: 0 });
  expect(drain.stdout).toContain("nothing runs there any more");
  expect(drain.stderr.split("No answer from Redis")).toHaveLength(2);
  const after = JSON.parse((await type(["status", String(first.log_id), "--json"])).stdout);
  expect(after).toMatchObject({ state: "completed" });
  expect(executions()).toBe(1);
});

test.each([
  { args: ["pause"], code: 2, says: /name the Editor/ },
  { args: ["stop", "x"], code: 2, says: /only pause, drain, resume, claim, and forget are known/ },
  { args: ["drain", "nobody"], code: 1, says: /nobody/ },
  { args: ["drain", "pool:android"], code: 1, says: /is a pool; here, name one Editor/ },
])("editors $args says what is wrong", async ({ args, code, says }) => {
  if (code === 1) {
    await simulate();
    await called("--json", blocks(0.1));
  }
  expect(await type(["editors", ...args])).toMatchObject({ code, stderr: expect.stringMatching(says) });
});
