/** Machines that are apart (docs/guide/machines.md), each a network namespace: a link goes down while an Editor works. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { createTokens } from "../../../src/gateway/auth/tokens.js";
import { type ControlledEditor, startControlledEditor } from "../../harness/editor/editor-control.js";
import { mcpClient, serve } from "../../harness/processes/composed.js";
import { environment } from "../../harness/processes/installation.js";
import { layNetwork } from "../../harness/processes/namespaces.js";
import { createProcesses, type Processes, until } from "../../harness/processes/processes.js";
import { redisHere } from "../../harness/redis/redis.js";

const network = layNetwork(3);
if ("missing" in network) console.log(`The test of machines that are apart is SKIPPED: ${network.missing}`);
afterAll(() => {
  if (!("missing" in network)) network.remove();
});

const PASSWORD = "0123456789abcdefOfATest";
const idsOf = (list: unknown): string[] =>
  (list as { operationId: string }[]).map(({ operationId }) => operationId);

test.skipIf("missing" in network)(
  "an operation goes on while its machine is unplugged, and its pool's other machine takes what is new",
  async () => {
    if ("missing" in network) return;
    const [server, first, second] = network.machines;
    if (!server || !first || !second) throw new Error("three were asked for");
    const folder = mkdtempSync(join(tmpdir(), "ujb-machines-"));
    const all: Processes[] = [];
    const on = (within: readonly string[]): Processes => {
      const processes = createProcesses(within);
      all.push(processes);
      return processes;
    };
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));

    const onServer = on(server.within);
    const binary = await redisHere();
    const settings = ["appendonly yes", "maxmemory-policy noeviction", `requirepass ${PASSWORD}`];
    const configuration = join(folder, "redis.conf");
    writeFileSync(configuration, [`bind ${server.address}`, `dir ${folder}`, ...settings, ""].join("\n"));
    const [ip = "", ...within] = server.within;
    serve(ip, [...within, binary.file, configuration], {
      processes: onServer,
      env: withLibraries(process.env, binary.libraryPath),
    });
    onTestFinished(async () => {
      for (const processes of all.toReversed()) expect(await processes.close()).toEqual([]);
    });

    const tokensFile = join(folder, "tokens.json");
    const token = await createTokens(tokensFile).create("farm", { role: "operate" });
    const env = {
      ...environment(folder, { UNITY_BROKER_ORIGIN_KEY_FILE: join(folder, "origin.key") }),
      REDIS_URL: `redis://:${PASSWORD}@${server.address}:6379`,
      UNITY_BROKER_TOKENS_FILE: tokensFile,
    };
    const gateway = onServer.start("gateway", ["gateway", "--host", server.address, "--port", "8787"], env);
    await gateway.line(/^MCP endpoint: /);

    const editorOn = async (machine: typeof first, name: string): Promise<ControlledEditor> => {
      const processes = on(machine.within);
      const own = { ...env, UNITY_BROKER_EDITORS_DIR: join(folder, name, "editors") };
      const files = ["--project", join(folder, name, name), "--ledger-folder", join(folder, name, "ledger")];
      const editor = await startControlledEditor(
        processes,
        "typescript",
        [...files, "--labels", "farm"],
        own,
      );
      await processes.start(`worker on ${name}`, ["worker"], own).line(/^Worker for/);
      return editor;
    };
    const farm = [
      { machine: first, editor: await editorOn(first, "one") },
      { machine: second, editor: await editorOn(second, "two") },
    ];
    const headers = { authorization: `Bearer ${token}` };
    const client = await mcpClient(`http://${server.address}:8787/mcp`, headers);
    const build = (MenuItemPath: string, timeout: number) =>
      client.call("execute-menu-item", { MenuItemPath, editor: "pool:farm", timeout });
    const answeredBy = new Set<unknown>();
    await until("both machines have answered for the pool", async () => {
      const { editor } = await build(`Assets/Refresh ${answeredBy.size} ${performance.now()}`, 20);
      answeredBy.add(editor);
      return answeredBy.size === 2;
    });

    const { log_id } = await build("Simulator/Block For 3 Seconds", 0);
    const isIn = async ({ editor }: (typeof farm)[number], list: "open" | "unacknowledged") =>
      idsOf((await editor.do({ do: "status" }))[list]).includes(log_id ?? "");
    const busy = await until("one of them runs it", async () => {
      for (const each of farm) if (await isIn(each, "open")) return each;
      return undefined;
    });
    busy.machine.unplug();
    // A worker that hangs up in order needs its store.
    onTestFinished(busy.machine.plug);
    const other = farm.find((each) => each !== busy)?.editor;
    for (const path of ["File/Save Project", "GameObject/Create Empty"])
      expect(await build(path, 20)).toMatchObject({ status: "completed", editor: other?.editorId });
    await until("it has ended, which nobody has heard yet", () => isIn(busy, "unacknowledged"));
    expect(await client.call("get_operation_status", { log_id })).toMatchObject({ status: "running" });

    busy.machine.plug();
    const answer = await client.call("get_operation_result", { log_id, wait: true, timeout: 30 });
    expect(answer).toMatchObject({ status: "completed", editor: busy.editor.editorId });
    const executions = await Promise.all(
      farm.map(async ({ editor }) => (await editor.do({ do: "status" })).executions),
    );
    expect(executions.flatMap(idsOf).filter((id) => id === log_id)).toHaveLength(1);
  },
);
