/**
 * What a session of an assistant costs: the list of tools, ten calls, three polls, a large result and two errors, beside the same of two
 * other bridges. docs/reference/answer-sizes.md has the table and says how theirs was measured. UPDATE_GOLDEN=1 writes it.
 */
import { expect, test } from "vitest";
import { toolsOfBridgeOnly } from "../../harness/editor/bridge-tools.js";
import { eventually } from "../../harness/eventually.js";
import { useAssistants } from "../../harness/mcp/assistant.js";
import { pageSection } from "../../harness/page-section.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useAssistants();

const PAGE = pageSection(new URL("../../../docs/reference/answer-sizes.md", import.meta.url), "session");
const GROWTH = 1.1;

const PARTS = ["list and instructions", "10 calls", "3 polls", "1 large result", "2 errors"] as const;
type Cost = Record<(typeof PARTS)[number], number>;

/** From their sources, as the page says. */
const OTHERS: Record<"uLoopMCP" | "unity-mcp", Cost> = {
  uLoopMCP: {
    "list and instructions": 12_779,
    "10 calls": 3_055,
    "3 polls": 0,
    "1 large result": 231,
    "2 errors": 355,
  },
  "unity-mcp": {
    "list and instructions": 101_044,
    "10 calls": 3_188,
    "3 polls": 1_920,
    "1 large result": 14_710,
    "2 errors": 414,
  },
};

test("a session's characters are those of the page", async () => {
  const system = await start({ gateway: { answers: "short" }, editor: { tools: toolsOfBridgeOnly } });
  const { client, ask } = await connect(system);
  const ofTests = new Set(system.bench.tools.map(({ name }) => name));
  const { tools } = await client.listTools();
  const list = JSON.stringify({ tools: tools.filter(({ name }) => !ofTests.has(name)) });
  const cost: Cost = {
    "list and instructions": list.length + (client.getInstructions() ?? "").length,
    "10 calls": 0,
    "3 polls": 0,
    "1 large result": 0,
    "2 errors": 0,
  };
  const asked = async (part: keyof Cost, tool: string, args: Record<string, unknown> = {}) => {
    const { text, answer } = await ask(tool, args);
    cost[part] += text.length;
    return answer;
  };
  const call = (tool: string, args: Record<string, unknown> = {}) =>
    asked("10 calls", tool, { timeout: 50, ...args });
  for (const SimulatedFailures of [0, 2]) {
    await call("compile");
    await call("run-tests", { SimulatedFailures });
    await call("get-logs", { MaxCount: 1 });
    await call("find-game-objects", { NamePattern: "Object1", MaxResults: 1 });
  }
  await call("execute-menu-item", { MenuItemPath: "Assets/Refresh" });
  await call("clear-console");
  const { answer: running } = await ask("run-tests", { SimulatedSeconds: 30, timeout: 0 });
  const { log_id } = running;
  const isRunning = async () => (await system.record(String(log_id))).state === "running";
  await eventually(isRunning, "the Editor has begun it");
  for (let poll = 0; poll < 3; poll += 1)
    expect(await asked("3 polls", "get_operation_result", { log_id })).toMatchObject({ status: "running" });
  await ask("cancel_operation", { log_id });
  await ask("get_operation_result", { log_id, wait: true, timeout: 20 });
  expect(await asked("1 large result", "get-hierarchy", { SimulatedSize: 2_000, timeout: 30 })).toMatchObject(
    {
      cached: true,
    },
  );
  await asked("2 errors", "execute-menu-item", { MenuItemPath: "Nowhere", timeout: 10 });
  await asked("2 errors", "execute-menu-item", { MenuItem: "Nowhere" });

  if (process.env.UPDATE_GOLDEN) PAGE.write(pageOf(cost));
  const known = [...PAGE.read().matchAll(/^\| (.+?) \| (\d+) \|/gm)].map(
    ([, part = "", size]) => [part, Number(size)] as const,
  );
  expect(known.map(([part]) => part)).toEqual([...PARTS, "together", "tokens, about"]);
  for (const [part, size] of known.slice(0, PARTS.length))
    expect(cost[part as keyof Cost], part).toBeLessThanOrEqual(GROWTH * size);
});

function pageOf(ours: Cost): string {
  const columns = [ours, OTHERS.uLoopMCP, OTHERS["unity-mcp"]];
  const sum = (cost: Cost): number => PARTS.reduce((total, part) => total + cost[part], 0);
  const row = (name: string, cells: readonly number[]): string => `| ${name} | ${cells.join(" | ")} |`;
  return `| characters | this broker | uLoopMCP 2.1.1 | unity-mcp 10.1.0 |
|---|---|---|---|
${PARTS.map((part) =>
  row(
    part,
    columns.map((cost) => cost[part]),
  ),
).join("\n")}
${row("together", columns.map(sum))}
${row(
  "tokens, about",
  columns.map((cost) => Math.ceil(sum(cost) / 4)),
)}
`;
}
