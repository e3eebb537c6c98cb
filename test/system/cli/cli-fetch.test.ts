/** Large results from a terminal: all of it into a pipe, or a part; nothing of it runs anything. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN } from "../../harness/processes/processes.js";

const { type, start, here } = useCommandLine();

test("a large result: call gives a pipe all of it, fetch all of it or a part", async () => {
  const ledger = join(here().folder, "ledger");
  await start("editor", ["simulate", "--port", "0", "--ledger-folder", ledger]).line(/^Simulated/);
  const called = await type(["call", "get-hierarchy", "--json", '{"SimulatedSize":3000}']);
  expect(called.code, called.stderr).toBe(0);
  const answer = JSON.parse(called.stdout) as { log_id: string; result: { nodes: { name: string }[] } };
  expect(answer).not.toHaveProperty("cached");
  expect(answer.result.nodes).toHaveLength(3000);
  const id = answer.log_id;
  const fetched = async (...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await type(["fetch", ...args]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  expect(await fetched(id)).toEqual(answer.result);
  expect(await fetched(id, "--jq", "[.nodes[].depth] | add")).toBe(2970);
  expect(await fetched(id, "--fields", "name", "--limit", "1", "--offset", "2999")).toEqual([
    { name: "Object2999" },
  ]);
  expect(await fetched(id, "--page", "2", "--page-size", "10")).toMatchObject({
    _pagination: { field: "nodes", total_items: 3000 },
  });
  // Large again, and kept: the pipe has it in full.
  expect(await fetched(id, "--jq", ".nodes")).toHaveLength(3000);
  const { cached_responses } = (await fetched()) as { cached_responses: object[] };
  expect(cached_responses).toMatchObject([{ source_cache_id: id, jq_filter: ".nodes" }]);
  expect(await fetched(id, "--info")).toMatchObject({ tool: "get-hierarchy", preview: { list: "nodes" } });
});

test("a reader that went away is no error", async () => {
  const ledger = join(here().folder, "ledger");
  await start("editor", ["simulate", "--port", "0", "--ledger-folder", ledger]).line(/^Simulated/);
  const { stdout } = await type(["call", "get-hierarchy", "--json", '{"SimulatedSize":30000}']);
  const { log_id } = JSON.parse(stdout) as { log_id: string };
  const { execPath } = process;
  const shell = spawn("sh", ["-c", `"$0" "$1" fetch "$2" | head -c 20`, execPath, MAIN, log_id], {
    env: here().env,
  });
  const said = Promise.all([text(shell.stdout), text(shell.stderr)]);
  expect(await said).toEqual(['{"sceneName":"Sample', ""]);
});

test("what is wrong is said, with its exit code", async () => {
  const unknown = await type(["fetch", crypto.randomUUID()]);
  expect(unknown).toMatchObject({ code: 4, stdout: expect.stringContaining("NOT_FOUND") });
  const both = await type(["fetch", "x", "--page", "1", "--jq", "."]);
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("not both") });
  const page = await type(["fetch", "x", "--page", "two"]);
  expect(page).toMatchObject({ code: 2, stderr: expect.stringContaining("--page takes a number") });
});
