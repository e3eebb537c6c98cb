/** Read: a process that stood still does not know for how long what it reads then has waited. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterEach, describe, expect, test } from "vitest";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { startWorld } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

const { outputFiles } = buildSync({
  entryPoints: [fileURLToPath(new URL("../../../src/shared/wait-time.ts", import.meta.url))],
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
});
const SOURCE = outputFiles[0]?.text ?? "";

/** Answers each line that it reads with whether it may have waited. */
const readerOf = (stallMs: number): string => `
  import { createInterface } from "node:readline";
  ${SOURCE}
  const stalls = createStallWatch({ stallMs: ${stallMs}, tickMs: 100 });
  createInterface({ input: process.stdin }).on("line", (line) => {
    if (line === "block") for (const end = Date.now() + 600; Date.now() < end; );
    console.log(stalls.hasStalledSince(performance.now()) ? "waited" : "at once");
  });
  console.log("ready");
`;

let reader: ChildProcess | undefined;
afterEach(async () => {
  if (!reader) return;
  const ended = once(reader, "close");
  reader.kill("SIGKILL");
  await ended;
  reader = undefined;
});

/** A machine that has much to do stalls for short: that is none where a test is not about it. */
async function startReader(stallMs = 200) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", readerOf(stallMs)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  reader = child;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => (await lines.next()).value as string;
  expect(await next()).toBe("ready");
  const say = (text: string): void => void child.stdin.write(`${text}\n`);
  return { child, say, next };
}

const isStopped = (pid: number | undefined) =>
  until("it is stopped", () => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));

describe.skipIf(process.platform !== "linux")("what is read", () => {
  test("by a process that runs was read at once", async () => {
    const { say, next } = await startReader(60_000);
    for (let times = 0; times < 5; times += 1) {
      say("a");
      expect(await next()).toBe("at once");
    }
  });

  test("by one that was stopped and goes on may have waited, all of it", async () => {
    const { child, say, next } = await startReader();
    child.kill("SIGSTOP");
    await isStopped(child.pid);
    for (let lines = 0; lines < 50; lines += 1) say("x".repeat(2_000));
    await delay(500);
    child.kill("SIGCONT");
    for (let lines = 0; lines < 50; lines += 1) expect(await next()).toBe("waited");
    // Once it has read everything up it is trusted again.
    await until("it has read everything up", async () => {
      say("b");
      return (await next()) === "at once";
    });
  });

  test("behind something that held the event loop up may have waited", async () => {
    const { say, next } = await startReader();
    say("block");
    await delay(100);
    say("b");
    expect([await next(), await next()]).toEqual(["waited", "waited"]);
  });
});

describe.skipIf(process.platform === "win32")("W18: a stdio gateway that stood still", () => {
  test("W18: answers at once what sat in its pipe for ten seconds, and that is no proof", async () => {
    const world = await startWorld();
    try {
      const client = await world.stdio();
      const item = { MenuItemPath: "Simulator/Block For 0.118 Seconds", timeout: 30 };
      const { log_id } = await client.call("execute-menu-item", item);
      // It has read it, however long the answer took on a busy machine: the call is meant anew.
      await client.call("get_operation_status", { log_id });
      client.process.signal("SIGSTOP");
      const second = client.ask("execute-menu-item", item);
      await delay(10_500);
      client.process.signal("SIGCONT");
      const reported = await second.answer;
      expect(reported).toMatchObject({ status: "completed" });
      expect(reported.log_id).not.toBe(log_id);
      await client.request("ping");
      // The client may have given the second call up while the gateway stood still, so this one may be its retry.
      const third = await client.call("execute-menu-item", item);
      expect(third).toMatchObject({ status: "completed", log_id: reported.log_id, deduplicated: true });
      expect(await world.editor.executions(item.MenuItemPath)).toHaveLength(2);
      // Nor is anything else: naming it is.
      const named = await client.call("get_operation_status", { log_id: reported.log_id });
      expect(named).toMatchObject({ status: "completed" });
      expect((await client.call("execute-menu-item", item)).log_id).not.toBe(reported.log_id);
      expect(await world.editor.executions(item.MenuItemPath)).toHaveLength(3);
      await client.close();
    } finally {
      await world.close();
    }
    await expectNoLeak();
  });
});
