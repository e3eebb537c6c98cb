/** `unity-broker workers`: who owns which Editor. */
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { until } from "../../harness/processes/processes.js";
import { useSteps } from "./steps.js";

const { type, simulate, start } = useSteps();

interface Shown {
  workers: { host: string; pid: number; version: string; editors: { id: string; connected: boolean }[] }[];
  unowned: string[];
}

const asked = async (): Promise<Shown> => JSON.parse((await type(["workers", "--json"])).stdout) as Shown;

test("a worker is named with its Editors for as long as it owns them", async () => {
  const none = await type(["workers"]);
  expect(none.stdout).toMatch(/^No worker owns an Editor: start one/);
  await simulate();
  const worker = start("worker", ["worker"]);
  await until("it owns the Editor", async () => (await asked()).workers[0]?.editors[0]?.connected);
  const { workers, unowned } = await asked();
  const version = (await type(["--version"])).stdout.trim();
  const [editor] = workers[0]?.editors ?? [];
  expect(workers).toEqual([
    { host: hostname(), pid: worker.pid, version, editors: [{ id: editor?.id, connected: true }] },
  ]);
  expect(unowned).toEqual([]);
  const text = (await type(["workers"])).stdout;
  expect(text).toMatch(/^HOST +PID +VERSION +EDITORS\n/);
  expect(text).toContain(`${worker.pid}  ${version}`);
  await worker.kill();
  await until("nobody does", async () => (await asked()).workers.length === 0);
  expect((await asked()).unowned).toEqual([editor?.id]);
  expect((await type(["workers"])).stdout).toContain(`Without a worker: ${editor?.id}`);
});
