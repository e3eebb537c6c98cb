/** How far an operation has come, as the dashboard's API tells it. */
import { afterEach, expect, test } from "vitest";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { jobIdOf } from "../../../src/shared/operation/operation.js";
import { queueName } from "../../../src/shared/store/keys.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const SECRET = "nobody-may-read-this";

const { start } = useSystem();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test("a job that runs shows how far it has come, and goes on showing it when it has failed", async () => {
  const system = await start();
  const http = await createHttpGateway(
    { gateway: system.gateway, log: createHeardLog(), version: "0.0.0" },
    { host: "127.0.0.1", port: 0 },
  );
  closers.push(http.close);
  const ann = system.client("ann");
  const { record } = await ann.submit("work", { Name: "told", Hold: true });
  await system.bench.begins("told");
  const queue = queueName(system.editor.editorId, "main");
  const url = new URL(`/dashboard/api/queues/${queue}/${jobIdOf(record)}`, http.url);
  const read = async (): Promise<string> => (await fetch(url)).text();
  const shown = async () => {
    const { job, status } = JSON.parse(await read()) as { job: { progress: unknown }; status: string };
    return { progress: job.progress, status };
  };
  const shows = (progress: number, status: string): Promise<void> =>
    eventually(async () => {
      const now = await shown();
      return now.progress === progress && now.status === status;
    }, `${progress} %, ${status}`);

  expect(await shown()).toEqual({ progress: 0, status: "active" });
  system.bench.report("told", { progress: 1, total: 4, message: SECRET });
  await shows(25, "active");
  expect(await read()).not.toContain(SECRET);
  system.bench.report("told", { progress: 3, total: 4 });
  await shows(75, "active");
  system.bench.fail("told", "as the test wants it");
  await ann.outcome(record.logId);
  await shows(75, "failed");
});
