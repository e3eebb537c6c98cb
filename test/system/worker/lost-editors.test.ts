/** An Editor whose process is killed: what its callers are told, and what a cancellation does. All are processes. */
import { afterEach, expect, test } from "vitest";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** A menu item runs in the Editor, and nobody waits for it. */
async function running() {
  world = await startWorld();
  const client = await world.http();
  const args = { MenuItemPath: "Simulator/Block For 60 Seconds", timeout: 0 };
  const { log_id = "" } = await client.call("execute-menu-item", args);
  const status = (): Promise<CallAnswer> => client.call("get_operation_status", { log_id });
  await until("it runs", async () => (await status()).state === "running");
  const cancel = (): Promise<CallAnswer> => client.call("cancel_operation", { log_id });
  return { world, client, log_id, status, cancel };
}

const GIVEN_UP = {
  status: "error",
  state: "interrupted",
  error_code: "OUTCOME_UNKNOWN",
  error_type: "editor_gone",
};

test("a killed Editor is not said to run anything, and a cancellation ends what it had", async () => {
  const { world, status, cancel, client } = await running();
  await world.editor.process.kill("SIGKILL");
  const reported = await until("it is known to have closed", async () => {
    const now = await status();
    return now.editor_closed === true && now;
  });
  expect(reported.message).toMatch(
    /has closed \(last seen at .*Z\).*may have finished.*cancel_operation ends it at once/,
  );
  expect(reported.message).toMatch(/Ask the user to open Project in Unity/);
  expect(reported.message).not.toMatch(/is running|restart Unity/);
  expect(Date.parse(String(reported.waits_until)) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  expect(await cancel()).toMatchObject({ ...GIVEN_UP, force_new: expect.any(String) });
  await client.close();
});

test("a cancellation right after the kill finds out that the process is gone", async () => {
  const { world, cancel, status, client } = await running();
  await world.editor.process.kill("SIGKILL");
  await cancel();
  await until("it was given up", async () => (await status()).state === "interrupted");
  expect(await status()).toMatchObject(GIVEN_UP);
  await client.close();
});

test("one that only stands still keeps it: the cancellation waits, and is told to it", async () => {
  const { world, cancel, status, client } = await running();
  process.kill(await pidOf(world), "SIGSTOP");
  try {
    await until("nobody hears of it", async () => (await status()).editor_last_seen_at !== undefined);
    const asked = await cancel();
    expect(asked).toMatchObject({ status: "running", state: "running", cancel: "requested" });
    expect(asked.message).toMatch(
      /it is reloading, restarting, or closed.*Its cancellation is delivered then/s,
    );
    expect(asked.message).not.toMatch(/is running in the Editor/);
  } finally {
    process.kill(await pidOf(world), "SIGCONT");
  }
  await until("the Editor has answered", async () => (await status()).cancel === "not_cancellable");
  await world.editor.process.kill("SIGKILL");
  await until("it was given up", async () => (await status()).state === "interrupted");
  await client.close();
});

async function pidOf({ hand, editor }: World): Promise<number> {
  const profile = await hand.hget(`{ujb}:editor:${editor.editorId}`, "profile");
  return (JSON.parse(profile ?? "{}") as { pid: number }).pid;
}
