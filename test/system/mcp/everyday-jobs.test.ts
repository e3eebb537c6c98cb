/**
 * An assistant's ten everyday jobs, over a real process and a real client: played by one that passes nothing but what the tool needs and
 * does what the answers advise, and by a perfect one that knows the broker by heart. docs/reference/answer-sizes.md has the round trips
 * and characters of both: one that grows by more than a tenth fails here. UPDATE_GOLDEN=1 writes the page.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startControlledEditor } from "../../harness/editor/editor-control.js";
import { pageSection } from "../../harness/page-section.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

const PAGE = pageSection(new URL("../../../docs/reference/answer-sizes.md", import.meta.url), "jobs");
const GROWTH = 1.1;
/** What is quick takes less on a busy machine, too; what is to outlast it takes more. */
const WAIT_SECONDS = 3;

type Answer = Record<string, unknown> & { status: string; log_id: string; message: string };

/** One client that counts what it sends and reads. */
interface Player {
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer>;
  /** Does what a "timeout" or "running" advises, until the operation has ended. */
  advised(answer: Answer): Promise<Answer>;
  readonly spent: { trips: number; characters: number };
}

let world: World;
let assistant: Player;
let perfect: Player;
let secondEditor: string;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  world = await startWorld({
    env: {
      UNITY_BROKER_ANSWERS: "short",
      UNITY_BROKER_MAX_RUNNING: "20",
      UNITY_BROKER_WAIT: `${WAIT_SECONDS}`,
    },
  });
  assistant = await connect();
  perfect = await connect();
});
afterAll(async () => {
  for (const close of closers) await close();
  await world.close();
  await expectNoLeak();
});

async function connect(): Promise<Player> {
  const client = new Client({ name: "assistant", version: "1" });
  const server = new StdioClientTransport({ ...(await world.stdioServer()), stderr: "ignore" });
  await client.connect(server);
  world.processes.guard(server.pid ?? 0);
  closers.push(() => client.close());
  await until("the Editor's tools are listed", async () =>
    (await client.listTools()).tools.some(({ name }) => name === "compile"),
  );
  const spent = { trips: 0, characters: 0 };
  const call: Player["call"] = async (name, args, signal) => {
    spent.trips += 1;
    spent.characters += JSON.stringify({ name, arguments: args }).length;
    const { content } = await client.callTool({ name, arguments: args }, undefined, signal ? { signal } : {});
    const [{ text }] = content as [{ text: string }];
    spent.characters += text.length;
    return JSON.parse(text) as Answer;
  };
  const advised: Player["advised"] = async (answer) => {
    if (answer.status !== "timeout" && answer.status !== "running") return answer;
    const seconds = /get_operation_result \(log_id, wait: true, timeout: (\d+)\)/.exec(answer.message)?.[1];
    const { log_id } = answer;
    return advised(await call("get_operation_result", { log_id, wait: true, timeout: Number(seconds) }));
  };
  return { call, advised, spent };
}

/** What an answer's text says between quotes behind these words. */
function named(message: string, words: RegExp): string {
  const [, found] = words.exec(message) ?? [];
  if (found === undefined) throw new Error(`no ${words} in: ${message}`);
  return found;
}

/** So many tests fail once the scripts are compiled. */
const edit = (failingTests: number) => world.editor.do({ do: "edit", failingTests });
/** In the place of a run of 30 s: longer than a call waits by itself. */
const TESTS = { SimulatedTests: 10, SimulatedSeconds: 0.45 };

type Play = (player: Player, isPerfect: boolean) => Promise<Answer>;

/** Each job ends with the answer that the user wanted; `expected` is of both players. */
const JOBS: { job: string; play: Play; expected: object }[] = [
  {
    job: "edit, compile",
    async play({ call, advised }, isPerfect) {
      await edit(2);
      return advised(await call("compile", isPerfect ? { timeout: 50 } : {}));
    },
    expected: { status: "completed", result: { Success: true } },
  },
  {
    job: "run the tests, longer than a call waits",
    async play({ call, advised }, isPerfect) {
      const args = { ...TESTS, SimulatedFailures: 0 };
      return advised(await call("run-tests", isPerfect ? { ...args, timeout: 50 } : args));
    },
    expected: { status: "completed", result: { passed: 10 } },
  },
  {
    job: "run the tests, read the failures among 1 000 tests",
    async play({ call, advised }, isPerfect) {
      const args = { ReportResults: "all", SimulatedTests: 1_000, SimulatedSeconds: 0.005 };
      const run = await advised(await call("run-tests", isPerfect ? { ...args, timeout: 50 } : args));
      expect(run).toMatchObject({ cached: true, preview: { keys: { failures: expect.any(String) } } });
      expect(run.usage_hint).toContain("fetch_cached_response and this log_id");
      return call("fetch_cached_response", { log_id: run.log_id, jq: ".failures" });
    },
    expected: { data: [{ name: expect.any(String) }, { name: expect.any(String) }] },
  },
  {
    job: "a large result, and one part of it",
    async play({ call, advised }, isPerfect) {
      const large = await advised(
        await call("get-hierarchy", { SimulatedSize: 2_000, ...(isPerfect ? { timeout: 50 } : {}) }),
      );
      // The hint's own example, with the wanted object in it.
      const items = named(String(large.usage_hint), /jq \(such as "(\.\w+\[\])\.\w+"\)/);
      const jq = `${items} | select(.name == "Object1234") | .path`;
      return call("fetch_cached_response", { log_id: large.log_id, jq });
    },
    expected: { data: "/Root12/Object1234" },
  },
  {
    job: "a menu item, called again after its answer was lost",
    async play({ call, advised }, isPerfect) {
      const args = { MenuItemPath: `Simulator/Block For ${isPerfect ? "6.1" : "6"} Seconds` };
      const begun = (await world.editor.executions()).length;
      const lost = new AbortController();
      const first = call("execute-menu-item", { ...args, timeout: 20 }, lost.signal).catch(() => undefined);
      await until("it began", async () => (await world.editor.executions())[begun]);
      lost.abort();
      await first;
      const again = await advised(
        await call("execute-menu-item", isPerfect ? { ...args, timeout: 50 } : args),
      );
      expect((await world.editor.executions()).length).toBe(begun + 1);
      return again;
    },
    expected: { status: "completed", result: { Success: true } },
  },
  {
    job: "tests, cancelled",
    async play({ call, advised }, isPerfect) {
      const args = { SimulatedTests: isPerfect ? 1 : 2, SimulatedSeconds: 600 };
      const { log_id } = await call("run-tests", args);
      return advised(await call("cancel_operation", { log_id }));
    },
    expected: { status: "cancelled" },
  },
  {
    job: "two Editors: which one?",
    async play({ call }, isPerfect) {
      if (isPerfect) return call("ping", { editor: secondEditor });
      const asked = await call("ping", {});
      expect(asked).toMatchObject({ status: "error", error_code: "EDITOR_AMBIGUOUS" });
      const candidates = asked.candidates as { id: string }[];
      expect(candidates.map(({ id }) => id)).toContain(secondEditor);
      return call("ping", { editor: secondEditor });
    },
    expected: { status: "completed", editor: expect.stringMatching(/^second@/) },
  },
  {
    job: "a lost log_id",
    async play(player, isPerfect) {
      const { call, advised } = player;
      const before = { ...player.spent };
      const args = { ...TESTS, SimulatedFailures: 1, editor: secondEditor };
      await call("run-tests", { ...args, timeout: 0 });
      // The call that is lost is not part of the search.
      Object.assign(player.spent, before);
      const { operations } = await call("list_operations", isPerfect ? { tool: "run-tests", limit: 1 } : {});
      const found = (operations as Answer[]).find(({ tool }) => tool === "run-tests");
      expect(found?.arguments).toContain('"SimulatedFailures":1');
      const log_id = found?.log_id ?? "";
      if (isPerfect) return call("get_operation_result", { log_id, wait: true, timeout: 50 });
      return advised(await call("get_operation_result", { log_id }));
    },
    expected: { status: "completed", result: { failed: 1 } },
  },
  {
    job: "a wrong argument",
    async play({ call }, isPerfect) {
      const item = { MenuItemPath: "Assets/Refresh", editor: secondEditor };
      if (isPerfect) return call("execute-menu-item", item);
      const { MenuItemPath: path, ...others } = item;
      const refused = await call("execute-menu-item", { MenuItem: path, ...others });
      expect(refused).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS" });
      const meant = named(refused.message, /did you mean (\w+)\?/);
      return call("execute-menu-item", { [meant]: path, ...others });
    },
    expected: { status: "completed", result: { Success: true } },
  },
  {
    job: "the same call again on purpose, with force_new",
    async play({ call }, isPerfect) {
      const key = `value of ${isPerfect ? "one" : "the other"}`;
      const set = { Path: "/Root0/Object1.speed", Value: 3, idempotency_key: key, editor: secondEditor };
      const first = await call("set-property", set);
      if (isPerfect) return call("set-property", { ...set, force_new: first.log_id });
      const again = await call("set-property", set);
      expect(again).toMatchObject({ deduplicated: true });
      const force_new = named(again.message, /pass force_new: "([\w-]+)"/);
      return call("set-property", { ...set, force_new });
    },
    expected: { status: "completed", result: expect.anything() },
  },
];

interface Spent {
  trips: number;
  characters: number;
}
const table: { job: string; assistant: Spent; perfect: Spent }[] = [];

/** Those from this job on need a second Editor. */
const WITH_TWO = "two Editors: which one?";

test.each(JOBS)("$job", async ({ job, play, expected }) => {
  if (job === WITH_TWO) await openSecondEditor();
  const spentBy = async (player: Player): Promise<Spent> => {
    Object.assign(player.spent, { trips: 0, characters: 0 });
    const answer = await play(player, player === perfect);
    expect(answer).toMatchObject(expected);
    return { ...player.spent };
  };
  table.push({ job, assistant: await spentBy(assistant), perfect: await spentBy(perfect) });
});

async function openSecondEditor(): Promise<void> {
  const { processes, folder, env } = world;
  const args = ["--project", `${folder}/second`, "--ledger-folder", `${folder}/second-ledger`];
  const editor = await startControlledEditor(processes, "typescript", args, env);
  secondEditor = editor.editorId;
  const watcher = await world.http();
  await until("both are connected", async () => {
    const { editors } = await watcher.call("list_editors", {});
    return (editors as { connected: boolean }[]).filter(({ connected }) => connected).length === 2;
  });
  await watcher.close();
  // Answers name their Editor once their process has heard of the second.
  for (const { call } of [assistant, perfect])
    await until(
      "answers say which Editor",
      async () => "editor" in (await call("ping", { editor: secondEditor, timeout: 20 })),
    );
}

test("round trips and characters are those of the page", () => {
  expect(table.map(({ job }) => job)).toEqual(JOBS.map(({ job }) => job));
  if (process.env.UPDATE_GOLDEN) PAGE.write(pageOf());
  const known = new Map(rowsOf(PAGE.read()));
  expect([...known.keys()]).toEqual(JOBS.map(({ job }) => job));
  const grown = table.filter(
    ({ job, assistant: { trips, characters } }) =>
      trips > (known.get(job)?.trips ?? 0) || characters > GROWTH * (known.get(job)?.characters ?? 0),
  );
  expect(grown, "more than docs/reference/answer-sizes.md says").toEqual([]);
});

function pageOf(): string {
  const sum = (who: "assistant" | "perfect", what: keyof Spent) =>
    table.reduce((total, row) => total + row[who][what], 0);
  const cells = ({ trips, characters }: Spent) => `${trips} | ${characters}`;
  const rows = table.map((row) => `| ${row.job} | ${cells(row.assistant)} | ${cells(row.perfect)} |`);
  return `What the jobs of a day cost over stdio: arguments and answers, in characters. The assistant passes what the tool needs and nothing of the
broker's, and does what each answer advises; the perfect client knows the broker by heart, names the time to wait, the Editor and the
state, and makes no mistake. A test fails if the assistant needs one round trip more, or a tenth more characters.

| job | round trips | characters | perfect: round trips | characters |
|---|---|---|---|---|
${rows.join("\n")}
| all ten | ${sum("assistant", "trips")} | ${sum("assistant", "characters")} | ${sum("perfect", "trips")} | ${sum("perfect", "characters")} |
`;
}

function rowsOf(page: string): [string, Spent][] {
  return [...page.matchAll(/^\| (.+?) \| (\d+) \| (\d+) \| \d+ \| \d+ \|$/gm)]
    .map(([, job = "", trips, characters]): [string, Spent] => [
      job,
      { trips: Number(trips), characters: Number(characters) },
    ])
    .filter(([job]) => job !== "all ten");
}
