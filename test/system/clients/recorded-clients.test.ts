/**
 * Five coding assistants, as they were recorded: what each of them sends around its calls (late cancellations, cancellations by its own
 * limit, a new process with the same call) neither makes an old answer new nor a call run twice.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../../../src/shared/operation/answer.js";
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
} from "../../harness/mcp/recorded-clients.js";
import { type HeldWorld, openHeldWorld } from "../../harness/processes/held-world.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { BEHIND_A_PROXY } from "../../harness/processes/process-clients.js";

let world: HeldWorld;
const peers: RecordedPeer[] = [];

beforeAll(async () => {
  // Answers in the form that models read.
  world = await openHeldWorld({ UNITY_BROKER_ANSWERS: "short" });
});
afterAll(async () => {
  for (const peer of peers) await peer.kill();
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
