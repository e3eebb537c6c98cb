/** A configuration file that changes under clients that run: each keeps the settings that its session began with. */
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { brokerFolders, readEndpoint } from "../../../src/cli/pipe/broker-place.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";
import { until } from "../../harness/processes/processes.js";

const { start, type, here } = useCommandLine();

function configuration(text: string): string {
  const path = join(here().folder, "broker.yaml");
  writeFileSync(path, text);
  return path;
}

/** The places that have a living broker, and its process. */
function living(): Map<string, number> {
  const places = brokerFolders(here().dataDir).map((folder) => [basename(folder), readEndpoint(folder)?.pid]);
  return new Map(places.filter((place): place is [string, number] => place[1] !== undefined));
}

async function simulated(): Promise<() => Promise<string>> {
  const ledger = join(here().folder, "ledger");
  const counter = join(here().folder, "executions.log");
  await start("editor", [
    ...["simulate", "--port", "0", "--ledger-folder", ledger, "--counter-file", counter],
  ]).line(/^Simulated Unity Editor/);
  return async () => (await import("node:fs/promises")).readFile(counter, "utf8");
}

test("a client whose broker was killed gets one with the settings that it began with; the next client has the new ones", async () => {
  const executions = await simulated();
  const config = { UNITY_BROKER_CONFIG: configuration("limits: {queued: 7}\n") };
  const client = await openStdioClient(start("mcp", ["mcp"], config));
  const [[place, pid] = ["", 0]] = living();
  const item = { MenuItemPath: "Simulator/Block For 2 Seconds", timeout: 30 };
  const call = client.call("execute-menu-item", item);
  await until("it runs", async () => (await executions().catch(() => "")) !== "");
  configuration("limits: {queued: 8}\n");
  process.kill(pid, "SIGKILL");
  expect(await call).toMatchObject({ status: "completed" });
  expect([...living().keys()]).toEqual([place]);

  // In order, too: the next message starts it again.
  await type(["down"], config);
  await until("it has ended", () => living().size === 0);
  expect(await client.call("list_operations", {})).toMatchObject({ operations: [{ state: "completed" }] });
  expect([...living().keys()]).toEqual([place]);

  const { stdout } = await type(["list", "--json"], config);
  expect(JSON.parse(stdout)).toHaveLength(1);
  expect([...living().keys()]).toHaveLength(2);
  expect((await executions()).trim().split("\n")).toHaveLength(1);
});

test("a broker that reads other settings than it was started for serves nobody", async () => {
  const config = { UNITY_BROKER_CONFIG: configuration("limits: {queued: 7}\n") };
  const { code, stderr } = await type(["broker", "--for", "0123456789abcdef"], config);
  expect([code, stderr]).toEqual([75, ""]);
  expect(living().size).toBe(0);
});
