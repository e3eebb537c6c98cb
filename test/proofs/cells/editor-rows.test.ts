/**
 * What becomes of a call when its Editor's connection, script domain or process ends under it: gateway, worker and
 * Editor are processes, each Editor in turn. The Editor's own account says how often it began.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TELLING_ENGINES } from "../../harness/editor/dotnet.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import type { CallAnswer, HttpClient } from "../../harness/processes/process-clients.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";
import { isFinal } from "../engine/outcomes.js";

interface Call {
  tool: string;
  args: Record<string, unknown>;
}

let calls = 0;
/** Blocks the main thread so long; no two are the same call. */
const block = (seconds: number): Call => {
  calls += 1;
  const MenuItemPath = `Simulator/Block For ${seconds.toFixed(2)}${calls} Seconds`;
  return { tool: "execute-menu-item", args: { MenuItemPath } };
};
/** Runs until something ends it, also on an Editor whose reload waits for a main thread that is free. */
const endless = (engine: string): Call => {
  if (engine !== "dotnet") return block(600);
  calls += 1;
  const Code = `await System.Threading.Tasks.Task.Delay(600000 + ${calls});`;
  return { tool: "execute-code", args: { Code } };
};

afterAll(() => expectNoLeak());

describe.each(TELLING_ENGINES)("the %s Editor", (engine) => {
  let world: World;
  let client: HttpClient;
  beforeAll(async () => {
    world = await startWorld({ engine });
    client = await world.http();
  });
  afterAll(async () => {
    await client.close();
    await world.close();
  });

  const stateOf = async (logId: string): Promise<string> => {
    const doc = await world.hand.hget(`{ujb}:operation:${logId}`, "doc");
    return (JSON.parse(doc ?? "{}") as { state: string }).state;
  };
  const begun = async (logId: string): Promise<number> =>
    (await world.editor.executions()).filter(({ operationId }) => operationId === logId).length;
  const submit = async ({ tool, args }: Call): Promise<string> => {
    const { log_id = "" } = await client.call(tool, { ...args, timeout: 0 });
    return log_id;
  };
  const reaches = (logId: string, state: string): Promise<boolean> =>
    until(`${logId} is ${state}`, async () => (await stateOf(logId)) === state);
  const run = async (call: Call): Promise<string> => {
    const logId = await submit(call);
    await reaches(logId, "running");
    // Its journal says so before its first effect.
    if (call.tool === "execute-menu-item") await until("it began", async () => (await begun(logId)) === 1);
    return logId;
  };
  const outcome = (logId: string): Promise<CallAnswer> =>
    until("it has ended", async () => {
      const reported = await client.call("get_operation_result", { log_id: logId, wait: true, timeout: 5 });
      return isFinal(reported) && reported;
    });
  const completesOnce = async (logId: string): Promise<void> => {
    expect(await outcome(logId)).toMatchObject({ status: "completed" });
    expect(await begun(logId)).toBe(1);
  };
  const inEditor = async (list: "open" | "unacknowledged", logId: string): Promise<boolean> => {
    const status = await world.editor.do({ do: "status" });
    return (status[list] as { operationId: string }[]).some(({ operationId }) => operationId === logId);
  };
  /** The Editor has it and cannot begin it yet. */
  const send = async (stallMs: number): Promise<string> => {
    await world.editor.do({ do: "stallMainThread", ms: stallMs });
    const logId = await submit(block(0.01));
    await until("the Editor has it", () => inEditor("open", logId));
    expect(await begun(logId)).toBe(0);
    return logId;
  };
  /** Ended in the Editor, whose word the worker has not heard: `event` comes before it does. */
  const finishUnheard = async (event: () => Promise<void>): Promise<string> => {
    const logId = await run(block(0.6));
    const { process } = world.worker;
    process.signal("SIGSTOP");
    await until("it ended in the Editor", () => inEditor("unacknowledged", logId));
    expect(await stateOf(logId)).toBe("running");
    await event();
    process.signal("SIGCONT");
    return logId;
  };

  const disconnect = async (): Promise<void> => {
    await world.editor.do({ do: "dropConnections" });
  };
  const reload = async (): Promise<void> => {
    await world.editor.do({ do: "reload", downMs: 20 });
  };
  const loseLedger = async (): Promise<void> => {
    await world.editor.do({ do: "crash", keepUnflushed: true });
    const folder = join(world.folder, "ledger");
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    await world.editor.do({ do: "restart" });
  };
  const crash = async (): Promise<void> => {
    await world.editor.do({ do: "crash", keepUnflushed: true });
    await world.editor.do({ do: "restart" });
  };

  test("connection to the Editor lost · queued: stays, runs once", async () => {
    const first = await run(block(0.6));
    const logId = await submit(block(0.01));
    await reaches(logId, "queued");
    await disconnect();
    await completesOnce(first);
    await completesOnce(logId);
  });

  test("connection to the Editor lost · sent: the same id again attaches", async () => {
    const logId = await send(1_500);
    await disconnect();
    await completesOnce(logId);
  });

  test("connection to the Editor lost · running: goes on", async () => {
    const logId = await run(block(0.6));
    await disconnect();
    await completesOnce(logId);
  });

  test("connection to the Editor lost · finished: reported again after hello", async () => {
    await completesOnce(await finishUnheard(disconnect));
  });

  test("domain reload · queued: stays, runs once", async () => {
    const first = await run(endless(engine));
    const logId = await submit(block(0.01));
    await reload();
    await completesOnce(logId);
    await outcome(first);
  });

  test("domain reload · sent: the Editor queues it again itself, the same id attaches", async () => {
    const logId = await send(1_500);
    await reload();
    await completesOnce(logId);
  });

  test("domain reload · running: a resumable tool goes on", async () => {
    const logId = await run({ tool: "run-tests", args: {} });
    await reload();
    await completesOnce(logId);
  });

  test("domain reload · running: any other is interrupted, and the same call gets that answer again", async () => {
    const call = endless(engine);
    const logId = await run(call);
    await reload();
    expect(await outcome(logId)).toMatchObject({
      error_code: "OUTCOME_UNKNOWN",
      error: expect.stringContaining("domain_reload"),
    });
    expect(await submit(call)).toBe(logId);
    // Code has no line of its own in the C# host's account.
    expect(await begun(logId)).toBe(engine === "dotnet" ? 0 : 1);
  });

  test("domain reload · finished: reported again after hello", async () => {
    await completesOnce(await finishUnheard(reload));
  });

  test("Editor crash or quit · queued: the next session of the project runs it once", async () => {
    const first = await run(block(600));
    const logId = await submit(block(0.01));
    await crash();
    await completesOnce(logId);
    await outcome(first);
  });

  test("Editor crash or quit · sent: not started, so it is queued again and runs once", async () => {
    const logId = await send(600_000);
    await crash();
    await completesOnce(logId);
  });

  test("Editor crash or quit · running: interrupted, and the same call gets that answer again", async () => {
    const call = block(600);
    const logId = await run(call);
    await crash();
    expect(await outcome(logId)).toMatchObject({
      error_code: "OUTCOME_UNKNOWN",
      error: expect.stringContaining("editor_exit"),
    });
    expect(await submit(call)).toBe(logId);
    expect(await begun(logId)).toBe(1);
  });

  test("Editor crash or quit · finished: reported by the next session", async () => {
    await completesOnce(await finishUnheard(crash));
  });

  test("ledger lost or rolled back · queued: stays, runs once", async () => {
    const first = await run(block(600));
    const logId = await submit(block(0.01));
    await loseLedger();
    await completesOnce(logId);
    await outcome(first);
  });

  test("ledger lost or rolled back · sent: interrupted, it is not sent again", async () => {
    const logId = await send(600_000);
    await loseLedger();
    expect(await outcome(logId)).toMatchObject({ error_code: "OUTCOME_UNKNOWN" });
    expect(await begun(logId)).toBe(0);
  });

  test("ledger lost or rolled back · running: interrupted, it is not sent again", async () => {
    const call = block(600);
    const logId = await run(call);
    await loseLedger();
    expect(await outcome(logId)).toMatchObject({ error_code: "OUTCOME_UNKNOWN" });
    expect(await submit(call)).toBe(logId);
    expect(await begun(logId)).toBe(1);
  });

  test("ledger lost or rolled back · finished: the broker's record decides", async () => {
    const call = block(0.01);
    const logId = await submit(call);
    await reaches(logId, "completed");
    await loseLedger();
    expect(await submit(call)).toBe(logId);
    await completesOnce(logId);
  });
});
