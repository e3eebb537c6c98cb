/** docker-compose.yml's topology as processes: Redis with a password, a gateway, a worker, and three Editors. */
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { mcpClient, startComposed } from "../../harness/processes/composed.js";
import { until } from "../../harness/processes/processes.js";

test("every call runs on the Editor that was named, none is guessed, all of it is counted", async () => {
  const composed = await startComposed();
  const { headers, processes } = composed;
  const { port, password } = composed.redis;

  const stranger = new Redis({ port, maxRetriesPerRequest: 1, retryStrategy: () => 50 });
  stranger.on("error", () => undefined);
  onTestFinished(() => stranger.disconnect());
  const owner = new Redis({ port, password, retryStrategy: () => 50 });
  owner.on("error", () => undefined);
  onTestFinished(() => owner.disconnect());
  await until("Redis serves, but not without its password", () =>
    stranger.ping().then(
      () => false,
      (error: Error) => /NOAUTH/.test(error.message),
    ),
  );
  expect(await owner.config("GET", "maxmemory-policy")).toContain("noeviction");
  expect(await owner.config("GET", "appendonly")).toContain("yes");

  const editors = await Promise.all(["Red", "Green", "Blue"].map(composed.editor));
  await composed.worker();
  const gateway = await composed.gateway();
  const url = `http://127.0.0.1:${gateway.port}/mcp`;
  expect((await fetch(new URL("/metrics", url))).status).toBe(401);
  const metric = async (series: string): Promise<number> => {
    const text = await (await fetch(new URL("/metrics", url), { headers })).text();
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length + 1),
    );
  };
  await until("the gateway is ready", async () => (await fetch(new URL("/readyz", url))).ok);
  await until(
    "all three Editors are connected",
    async () => (await metric('unity_broker_editors{connected="yes",phase="ready"}')) === 3,
  );

  const clients = await Promise.all([1, 2, 3, 4].map(() => mcpClient(url, headers)));
  // Each client goes round the Editors, each beginning with another one: calls of all for all are under way at once.
  const asked: { editorId: string; logId: string }[] = [];
  const items = ["Assets/Refresh", "File/Save Project", "GameObject/Create Empty"];
  await Promise.all(
    clients.map(async (client, number) => {
      const round = items.flatMap((item, at) =>
        editors.map((_, turn) => ({ item, turn: turn + at + number })),
      );
      const answers = round.map(async ({ item, turn }) => {
        const editorId = editors[turn % editors.length]?.editorId ?? "";
        const MenuItemPath = item;
        const key = `${number} ${item} ${editorId}`;
        const answer = await client.call("execute-menu-item", {
          MenuItemPath,
          editor: editorId,
          idempotency_key: key,
          timeout: 50,
        });
        expect(answer).toMatchObject({ status: "completed", editor: editorId });
        asked.push({ editorId, logId: answer.log_id ?? "" });
      });
      await Promise.all(answers);
    }),
  );
  const refused = await Promise.all(
    clients.map((client) => client.call("execute-menu-item", { MenuItemPath: "Edit/Clear All PlayerPrefs" })),
  );
  for (const answer of refused)
    expect(answer).toMatchObject({ status: "error", error_code: "EDITOR_AMBIGUOUS" });

  expect(asked).toHaveLength(36);
  for (const { editorId, executions } of editors) {
    const named = asked.filter((one) => one.editorId === editorId).map(({ logId }) => logId);
    expect(named).toHaveLength(12);
    const began = executions().map(({ operationId }) => operationId);
    expect(began.sort()).toEqual(named.sort());
  }
  expect(await metric('unity_broker_operations_ended_total{state="completed",effect="mutating"}')).toBe(36);
  expect(await metric('unity_broker_operations_open{state="running"}')).toBe(0);
  expect(await metric("unity_broker_execution_seconds_count")).toBe(36);
  const { queues } = (await (await fetch(new URL("/dashboard/api/queues", url), { headers })).json()) as {
    queues: { name: string; counts: { completed: number } }[];
  };
  for (const { editorId } of editors) {
    expect(queues.find(({ name }) => name === `${editorId}.main`)?.counts.completed).toBe(12);
  }

  expect(await processes.close()).toEqual([]);
});
