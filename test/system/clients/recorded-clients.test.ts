/**
 * Five coding assistants, as they were recorded: what each of them sends around its calls (late cancellations, cancellations by its own
 * limit, a new process with the same call) neither makes an old answer new nor a call run twice.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { openEventStream } from "../../harness/mcp/event-stream.js";
import {
  CLAUDE_CODE,
  CODEX,
  COPILOT_CLI,
  GEMINI_CLI,
  OPENCODE,
  overHttp,
  overStdio,
  type RecordedPeer,
  type Recording,
  type SentCall,
} from "../../harness/mcp/recorded-clients.js";
import { type HeldWorld, openHeldWorld } from "../../harness/processes/held-world.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { BEHIND_A_PROXY } from "../../harness/processes/process-clients.js";
import { type RunningProcess, until } from "../../harness/processes/processes.js";
import { restClient } from "../../harness/rest/rest-client.js";

let world: HeldWorld;
const peers: RecordedPeer[] = [];

beforeAll(async () => {
  // Answers in the form that models read.
  world = await openHeldWorld({ UNITY_BROKER_ANSWERS: "short" });
});
afterEach(async () => {
  world.endHolds();
  for (const peer of peers.splice(0)) await peer.kill();
});
afterAll(async () => {
  await world.close();
  await expectNoLeak();
});

type Connect = () => Promise<RecordedPeer>;

/** A new process of this client, with a pipe to the background broker. */
const started =
  (recording: Recording): Connect =>
  async () => {
    const env = await world.broker.environment();
    const peer = await overStdio(recording, world.processes.start(recording.name, ["mcp"], env));
    peers.push(peer);
    return peer;
  };

const connected =
  (recording: Recording, headers: Record<string, string> = {}) =>
  async () => {
    const peer = await overHttp(recording, world.gateway.url(), headers);
    peers.push(peer);
    return peer;
  };

const CLIENTS: [string, Connect][] = [
  [`${OPENCODE.name} over stdio`, started(OPENCODE)],
  [`${CLAUDE_CODE.name} over stdio`, started(CLAUDE_CODE)],
  [`${CODEX.name} over stdio`, started(CODEX)],
  [`${GEMINI_CLI.name} over stdio`, started(GEMINI_CLI)],
  [`${COPILOT_CLI.name} over stdio`, started(COPILOT_CLI)],
  [`${CLAUDE_CODE.name} over HTTP`, connected(CLAUDE_CODE)],
  [`${COPILOT_CLI.name} over HTTP`, connected(COPILOT_CLI)],
];

const origin = (): string => new URL(world.gateway.url()).origin;
const rest = () => restClient(origin());

/** Each test's calls are its own. */
let names = 0;
const ownName = (): string => {
  names += 1;
  return `Object ${names}`;
};
const ownItem = (): string => {
  names += 1;
  return `Simulator/Block For 35.${names} Seconds`;
};
const WAITS = { timeout: 50 };

/** Begun for the call that it answers, and once. `before`: what had begun when that was sent. */
function expectNew(answer: Answer, what: string, before: readonly string[]): void {
  expect(answer).toMatchObject({ status: "completed", log_id: expect.any(String) });
  expect(answer).not.toHaveProperty("deduplicated");
  expect(answer.message ?? "").not.toContain("Not run again");
  expect(world.executions(what).slice(before.length)).toEqual([answer.log_id]);
}

describe.each(CLIENTS)("%s", (_name, connect) => {
  test("edits, compiles and tests four times in one session: each call runs, and no answer is old", async () => {
    const client = await connect();
    const isEscaped = client.recording === CLAUDE_CODE;
    const Name = ownName();
    for (let round = 1; round <= 4; round += 1)
      for (const [tool, args] of [
        ["create-game-object", { Name }],
        ["compile", {}],
        ["run-tests", { SimulatedTests: 3 }],
      ] as const) {
        const before = world.executions(tool);
        if (isEscaped) {
          const call = client.ask(tool, { ...args, ...WAITS });
          expectNew(await call.answer, tool, before);
          await client.escapes(call);
        } else expectNew(await client.call(tool, { ...args, ...WAITS }), tool, before);
      }
  });

  test("gives a long menu item up, is started again, and there are two of it: one execution, whose outcome all get", async () => {
    const path = ownItem();
    const item = ["execute-menu-item", { MenuItemPath: path, ...WAITS }] as const;
    const run = world.hold(path);
    const client = await connect();
    const first = client.ask(...item);
    await run.begun();
    const [logId = ""] = world.executions(path);
    if (client.recording.timedOut !== undefined) await client.timesOut(first);
    client.ask(...item);
    await world.joined(logId, 1);
    await client.kill();
    const calls = [await connect(), await connect()].map((peer) => peer.ask(...item).answer);
    await world.joined(logId, 3);
    run.end();
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({
        status: "completed",
        deduplicated: true,
        log_id: logId,
        result: { MenuItemPath: path },
      });
      expect(answer.message).toMatch(/^This call joined the same call in flight, which began at /);
    }
    expect(world.executions(path)).toEqual([logId]);
  });
});

/** A run of the tests that goes on, its call, and the same call once more. */
async function testing(connect: Connect) {
  const client = await connect();
  const run = world.hold("run-tests");
  const before = world.executions("run-tests").length;
  const ask = (): SentCall => client.ask("run-tests", { SimulatedTests: 3, ...WAITS });
  const first = ask();
  await run.begun();
  const runs = (): string[] => world.executions("run-tests").slice(before);
  const [logId = ""] = runs();
  return { client, run, first, ask, runs, logId };
}

test.each<[string, Connect]>([
  [`${CLAUDE_CODE.name} over stdio`, started(CLAUDE_CODE)],
  [`${CLAUDE_CODE.name} over HTTP`, connected(CLAUDE_CODE)],
  [`${OPENCODE.name} over stdio`, started(OPENCODE)],
])(
  "%s: a run of the tests that its user has ended with Esc is not joined by the next call",
  async (_name, connect) => {
    const { client, run, first, ask, runs, logId } = await testing(connect);
    await client.escapes(first);
    const again = ask();
    await until("it waits behind that run", async () => {
      const { body } = await rest().get("/operations?state=queued");
      return (body.operations as Answer[]).some(({ tool }) => tool === "run-tests");
    });
    run.end();
    const answer = await again.answer;
    expect(answer).toMatchObject({ status: "completed" });
    expect(answer).not.toHaveProperty("deduplicated");
    expect(answer.log_id).not.toBe(logId);
    expect(runs()).toEqual([logId, answer.log_id]);
  },
);

test.each<[string, Connect]>([
  [`${CLAUDE_CODE.name} over stdio, by its 6 s`, started(CLAUDE_CODE)],
  [`${CLAUDE_CODE.name} over HTTP, by its 6 s`, connected(CLAUDE_CODE)],
  [`${GEMINI_CLI.name} over stdio, by its 5 s`, started(GEMINI_CLI)],
])("%s: a run of the tests that it gives up is joined by the next call", async (_name, connect) => {
  const { client, run, first, ask, runs, logId } = await testing(connect);
  await client.timesOut(first);
  const again = ask();
  await world.joined(logId, 1);
  run.end();
  const answer = await again.answer;
  expect(answer).toMatchObject({ status: "completed", deduplicated: true, log_id: logId });
  expect(answer.message).toMatch(/^This call joined the same call in flight, which began at /);
  expect(runs()).toEqual([logId]);
});

test("the first Assets/Refresh of Codex runs, although Claude Code has read the outcome of its own", async () => {
  const refresh = ["execute-menu-item", { MenuItemPath: "Assets/Refresh", ...WAITS }] as const;
  const claude = await started(CLAUDE_CODE)();
  const codex = await started(CODEX)();
  const own = await claude.call(...refresh);
  expectNew(own, "Assets/Refresh", []);
  await world.wasRead(own.log_id ?? "");
  expectNew(await codex.call(...refresh), "Assets/Refresh", [own.log_id ?? ""]);
});

describe("the background broker dies while a call that was sent once runs, and another client has joined it", () => {
  test.each(["when its run has ended", "while its run goes on"])(
    "the next broker, which gets both %s, answers the one as that call, and the other as one that joined it",
    async (when) => {
      const client = await started(CLAUDE_CODE)();
      const path = ownItem();
      const run = world.hold(path);
      const { answer } = client.ask("execute-menu-item", { MenuItemPath: path, ...WAITS });
      await run.begun();
      const [logId = ""] = world.executions(path);
      const other = await started(OPENCODE)();
      const join = other.ask("execute-menu-item", { MenuItemPath: path, ...WAITS });
      await world.joined(logId, 1);
      const pid = await world.broker.started();
      const isEnded = when === "when its run has ended";
      if (isEnded) {
        // Until the run has ended no other broker can serve.
        process.kill(pid, "SIGSTOP");
        run.end();
        await world.ended(logId);
      }
      await world.broker.kill(pid);
      if (!isEnded) {
        const later = await started(CODEX)();
        expect(await later.call("list_operations", {})).toMatchObject({ status: "completed" });
        run.end();
      }
      const read = await answer;
      expect(read).toMatchObject({ status: "completed", log_id: logId, result: { MenuItemPath: path } });
      expect(read).not.toHaveProperty("deduplicated");
      expect(read.message ?? "").not.toMatch(/Not run again|joined/);
      const joined = await join.answer;
      expect(joined).toMatchObject({ status: "completed", deduplicated: true, log_id: logId });
      expect(joined.message).toMatch(/^This call joined the same call in flight, which began at /);
      expect(world.executions(path)).toEqual([logId]);
    },
  );
});

describe("a step of a pipeline, with a key, whose runner dies before it printed the outcome", () => {
  const step = (name: string, path: string, env: NodeJS.ProcessEnv): RunningProcess => {
    const call = ["execute-menu-item", JSON.stringify({ MenuItemPath: path })];
    return world.processes.start(name, ["run", ...call, "--key", path, "--output", "json"], env);
  };
  /** How another client of the same user sees it: while it runs, or after its end. */
  const looks: Record<string, { during?: Look; after?: Look }> = {
    "reads its result": {
      after: async (log_id) => (await connected(CLAUDE_CODE)()).call("get_operation_result", { log_id }),
    },
    "waits for its end": {
      during: async (log_id) =>
        (await connected(CLAUDE_CODE)()).call("get_operation_result", { log_id, wait: true, ...WAITS }),
    },
    "lists it and has it explained": {
      async after(log_id) {
        expect(await (await connected(CLAUDE_CODE)()).call("list_operations", {})).toMatchObject({
          status: "completed",
        });
        const explains = world.processes.start(
          "explain",
          ["explain", log_id],
          await world.broker.environment(),
        );
        expect((await explains.ended).code).toBe(0);
      },
    },
    "reads it over REST": {
      async after(log_id) {
        for (const path of [`/operations/${log_id}?wait=30`, `/operations/${log_id}/result`])
          expect((await rest().get(path)).status).toBe(200);
      },
    },
    "has it on the page, and follows its events": {
      async during(log_id) {
        const events = await openEventStream(`${origin()}/api/v1/operations/${log_id}/events`, {});
        await events.ended;
      },
      after: async (log_id) => expect((await rest().get(`/operations/${log_id}?look=true`)).status).toBe(200),
    },
  };
  type Look = (logId: string) => Promise<unknown>;

  test.each(Object.entries(looks))(
    "another client %s: the step that is started again prints the recorded outcome, and runs nothing",
    async (_how, { during, after }) => {
      const env = await world.broker.environment();
      const path = ownItem();
      const run = world.hold(path);
      const died = step("runner that dies", path, env);
      await run.begun();
      const [logId = ""] = world.executions(path);
      const looking = during?.(logId);
      await died.kill("SIGKILL");
      run.end();
      await world.ended(logId);
      await looking;
      await after?.(logId);
      const again = step("runner", path, env);
      expect(await again.ended).toEqual({ code: 0, signal: null });
      expect(JSON.parse(again.stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
        ...{ status: "completed", deduplicated: true, log_id: logId },
        result: { MenuItemPath: path },
      });
      expect(world.executions(path)).toEqual([logId]);
    },
  );
});

describe("Claude Code over HTTP, in one session", () => {
  test("a call that failed runs when its cause is fixed", async () => {
    const client = await connected(CLAUDE_CODE)();
    const [Parent, Name] = [ownName(), ownName()];
    const below = ["create-game-object", { Name, Parent, ...WAITS }] as const;
    const failed = await client.call(...below);
    expect(failed).toMatchObject({ status: "error", error_code: "TOOL_FAILED" });
    await client.call("create-game-object", { Name: Parent, ...WAITS });
    const before = world.executions("create-game-object");
    expectNew(await client.call(...below), "create-game-object", before);
  });

  test("through a proxy neither a success nor a failure runs again until its log_id is named", async () => {
    const client = await connected(CLAUDE_CODE, BEHIND_A_PROXY)();
    const [Parent, Name] = [ownName(), ownName()];
    const calls = [
      { args: { Name: Parent, ...WAITS }, status: "completed" },
      { args: { Name, Parent: "/Nowhere", ...WAITS }, status: "error" },
    ];
    for (const { args, status } of calls) {
      const first = await client.call("create-game-object", args);
      expect(first).toMatchObject({ status });
      expect(first).not.toHaveProperty("deduplicated");
      const { log_id } = first;
      const before = world.executions("create-game-object");
      for (const _time of [1, 2]) {
        const again = await client.call("create-game-object", args);
        expect(again).toMatchObject({ status, deduplicated: true, log_id });
        expect(again.message).toMatch(/^Not run again: this call ran at /);
      }
      expect(world.executions("create-game-object")).toEqual(before);
      await client.call("get_operation_status", { log_id });
      const fresh = await client.call("create-game-object", args);
      expect(fresh).toMatchObject({ status });
      expect(fresh).not.toHaveProperty("deduplicated");
      expect(world.executions("create-game-object")).toEqual([...before, fresh.log_id]);
    }
  });

  test("a call whose connection breaks is taken up where its stream broke off: answered as that call, run once", async () => {
    const client = await connected(CLAUDE_CODE)();
    const path = ownItem();
    const run = world.hold(path);
    const call = client.ask("execute-menu-item", { MenuItemPath: path, ...WAITS });
    await run.begun();
    const [logId] = world.executions(path);
    const { answer } = await client.reconnects(call);
    run.end();
    const read = await answer;
    expect(read).toMatchObject({ status: "completed", log_id: logId, result: { MenuItemPath: path } });
    expect(read).not.toHaveProperty("deduplicated");
    expect(world.executions(path)).toEqual([logId]);
  });
});
