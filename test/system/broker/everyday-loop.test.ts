/**
 * What everybody does all day: run the tests, see one fail, edit, compile, run the tests again. The second report must
 * be the new one, by whatever way the client came and however it got the first.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { played } from "../../harness/long-form.js";
import { INITIALIZE, type RpcAnswer, toolCall } from "../../harness/mcp/mcp.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

let world: World;
/** Processes take long to start: these serve all tests. */
let processes: Record<"one" | "other" | "onePipe" | "otherPipe", SdkClient>;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  world = await startWorld({ env: { UNITY_BROKER_MAX_RUNNING: "20" } });
  processes = {
    one: await connect("stdio"),
    other: await connect("stdio"),
    onePipe: await connect("pipe"),
    otherPipe: await connect("pipe"),
  };
});
beforeEach(async () => {
  await edit(1);
  const { call } = await connect("HTTP");
  expect(await call("compile", {})).toMatchObject({ status: "completed" });
});
afterAll(async () => {
  for (const close of closers) await close();
  await world.close();
  await expectNoLeak();
});

interface SdkClient {
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<CallAnswer>;
}

async function connect(transport: "stdio" | "pipe" | "HTTP"): Promise<SdkClient> {
  const client = new Client({ name: "assistant", version: "1" });
  closers.push(() => client.close());
  if (transport === "HTTP") {
    await client.connect(new StreamableHTTPClientTransport(new URL(world.url())));
  } else {
    const command = await (transport === "pipe" ? world.sharingServer() : world.stdioServer());
    const server = new StdioClientTransport({ ...command, stderr: "ignore" });
    await client.connect(server);
    world.processes.guard(server.pid ?? 0);
  }
  return {
    async call(name, args, signal) {
      const request = { name, arguments: { timeout: 50, ...args } };
      const answer = await client.callTool(request, undefined, signal ? { signal } : {});
      return answer.structuredContent as CallAnswer;
    },
  };
}

/** So many tests fail once the scripts are compiled. */
const edit = (failingTests: number) => world.editor.do({ do: "edit", failingTests });
const runs = async () => (await world.editor.executions("run-tests")).length;

/** Each test's call is one of its own, by how many tests it runs; together they take `seconds`. */
let tests = 10;
function ownArguments(more: Record<string, unknown> = {}, seconds = 0.05): Record<string, unknown> {
  tests += 1;
  return { SimulatedTests: tests, SimulatedSeconds: seconds / tests, ...more };
}

/** Another client sees it end; a list tells nobody an outcome. */
async function ends(logId: string): Promise<void> {
  const watcher = await connect("HTTP");
  await until("it ended", async () => {
    const { operations } = (await watcher.call("list_operations", { timeout: undefined })) as unknown as {
      operations: CallAnswer[];
    };
    return operations.some(({ log_id, status }) => log_id === logId && status === "completed");
  });
}

/** A report of a run that was begun for the call which it answers. */
function expectNew(report: CallAnswer, failed: number): void {
  expect(report).toMatchObject({ status: "completed", result: { failed } });
  expect(report).not.toHaveProperty("deduplicated");
}

type Way = (client: SdkClient, args: Record<string, unknown>) => Promise<CallAnswer>;

const answered: Way = ({ call }, args) => call("run-tests", args);
const polled: Way = async ({ call }, args) => {
  const { log_id } = await call("run-tests", { ...args, timeout: 0 });
  for (;;) {
    const reported = await call("get_operation_result", { log_id, wait: true, timeout: 0.3 });
    if (reported.status !== "running") return reported;
  }
};
const readInOneWait: Way = async ({ call }, args) => {
  const { log_id } = await call("run-tests", { ...args, timeout: 0 });
  return call("get_operation_result", { log_id, wait: true, timeout: 50 });
};

const SECOND = { SimulatedTests: 10, SimulatedSeconds: 0.1 };
const WAYS = { "at once": answered, "by polling": polled, "by one read that waits": readInOneWait };
type Clients = () => Promise<{ first: SdkClient; second: SdkClient }>;
const same = async (client: Promise<SdkClient>) => ({ first: await client, second: await client });
const CLIENTS: Record<string, Clients> = {
  "over stdio": async () => ({ first: processes.one, second: processes.one }),
  "in another stdio process": async () => ({ first: processes.one, second: processes.other }),
  "by the background broker": async () => ({ first: processes.onePipe, second: processes.onePipe }),
  "by the background broker, in another pipe": async () => ({
    first: processes.onePipe,
    second: processes.otherPipe,
  }),
  "over HTTP in the same session": () => same(connect("HTTP")),
  "over HTTP in a new session": async () => ({ first: await connect("HTTP"), second: await connect("HTTP") }),
};

/** run-tests (fails), edit, compile, run-tests. */
async function loop(clients: Clients, args: Record<string, unknown>, way: Way = answered): Promise<void> {
  const { first, second } = await clients();
  const red = await way(first, args);
  expectNew(red, 1);
  await edit(0);
  expect(await second.call("compile", {})).toMatchObject({ status: "completed" });
  const green = await way(second, args);
  expectNew(green, 0);
  expect(green.log_id).not.toBe(red.log_id);
}

/** Two processes, two pipes of one, one session: the long form plays the others too. */
const TELLING = [
  "in another stdio process",
  "by the background broker, in another pipe",
  "over HTTP in the same session",
];

describe.each(played(CLIENTS, TELLING))("edit, compile, run-tests %s", (_where, clients) => {
  test.each(Object.entries(WAYS))("the second report is new: read %s", async (_how, way) => {
    const before = await runs();
    await loop(clients, ownArguments(), way);
    expect(await runs()).toBe(before + 2);
  });

  test("the second report is new: each took a second", async () => {
    await loop(clients, ownArguments(SECOND));
  });

  test("the second report is new: Play Mode tests, which reload the domain, and a compilation that does", async () => {
    const { first, second } = await clients();
    const args = ownArguments({ TestMode: "PlayMode" });
    expectNew(await first.call("run-tests", args), 1);
    await edit(0);
    expect(await second.call("compile", { SimulatedReload: true })).toMatchObject({ status: "completed" });
    expectNew(await second.call("run-tests", args), 0);
  });

  test("without an edit: who was told a report and asks once more gets a new run", async () => {
    const { first, second } = await clients();
    const args = ownArguments();
    const before = await runs();
    expectNew(await first.call("run-tests", args), 1);
    expectNew(await second.call("run-tests", args), 1);
    expect(await runs()).toBe(before + 2);
  });

  /** A run that has begun, whose client has then given its request up. */
  async function givenUp({ call }: SdkClient, args: Record<string, unknown>, reason: unknown) {
    const before = await runs();
    const patience = new AbortController();
    const request = call("run-tests", args, patience.signal).catch(() => "gave up");
    const begun = await until("it began", async () => (await world.editor.executions("run-tests"))[before]);
    patience.abort(reason);
    expect(await request).toBe("gave up");
    return { before, logId: begun.operationId };
  }

  test.each([
    ["EditMode", "while it runs"],
    ["EditMode", "after its end"],
    ["PlayMode", "after its end"],
  ])(
    "%s tests: a client whose time was over and sends the call again %s finds its run",
    async (TestMode, when) => {
      const { first, second } = await clients();
      const args = ownArguments({ TestMode }, 0.5);
      const { before, logId } = await givenUp(first, args, new Error("Request timed out"));
      if (when === "after its end") await ends(logId);
      expect(await second.call("run-tests", args)).toMatchObject({
        status: "completed",
        log_id: logId,
        deduplicated: true,
        result: { failed: 1 },
      });
      expect(await runs()).toBe(before + 1);
    },
  );

  test.each(["while they run", "after their end"])(
    "tests that a user cancelled %s are not the answer to the same user's next call",
    async (when) => {
      const { first } = await clients();
      const args = ownArguments({}, 0.5);
      const { before, logId } = await givenUp(first, args, new Error("The user pressed Esc"));
      if (when === "after their end") await ends(logId);
      expectNew(await first.call("run-tests", args), 1);
      expect(await runs()).toBe(before + 2);
    },
  );
});

test.each(["get_operation_result", "run-tests"])(
  "the second report is new: the first was read by %s through a pipe whose input had ended",
  async (name) => {
    const args = ownArguments();
    const { log_id = "" } = await processes.one.call("run-tests", { ...args, timeout: 0 });
    await ends(log_id);
    const { env } = await world.stdioServer();
    const piped = world.processes.start(`mcp in a pipe, ${name}`, ["mcp"], env);
    const answers: RpcAnswer[] = [];
    piped.onLine((line) => void answers.push(JSON.parse(line) as RpcAnswer));
    const call = toolCall(1, name, name === "run-tests" ? args : { log_id });
    for (const message of [INITIALIZE, call]) piped.write(`${JSON.stringify(message)}\n`);
    piped.endInput();
    expect(await piped.ended).toEqual({ code: 0, signal: null });
    // Shown whole where it is another: an error, or nothing at all.
    const read = { status: "completed", result: { failed: 1 } };
    expect(answers.filter(({ id }) => id === 1)).toMatchObject([{ result: { structuredContent: read } }]);
    const before = await runs();
    expectNew(await processes.other.call("run-tests", args), 1);
    expect(await runs()).toBe(before + 1);
  },
);

test("the second report is new: the first came after twelve seconds, by one answer or by polling", async () => {
  const stories = await Promise.all(
    Object.values(CLIENTS).flatMap((clients) =>
      Object.values(WAYS).map(async (way) => ({ ...(await clients()), way, args: ownArguments() })),
    ),
  );
  await world.editor.do({ do: "stallMainThread", ms: 12_000 });
  const startedAt = performance.now();
  const reds = await Promise.all(stories.map(({ way, first, args }) => way(first, args)));
  expect(performance.now() - startedAt).toBeGreaterThan(11_000);
  for (const red of reds) expectNew(red, 1);
  await edit(0);
  for (const { second, way, args } of stories) {
    expect(await second.call("compile", {})).toMatchObject({ status: "completed" });
    expectNew(await way(second, args), 0);
  }
});
