/** What the doctor says of the background broker. */
import { expect, test } from "vitest";
import { runningBrokers } from "../../harness/processes/brokers.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";

const { start, type, here } = useCommandLine();

/** No gateway listens there. */
const NOBODYS = "64999";

interface Finding {
  check: string;
  state: string;
  says: string;
  fix?: string;
}

async function finding(more: Record<string, string> = {}): Promise<Finding | undefined> {
  const { stdout } = await type(["doctor", "--json"], { UNITY_BROKER_PORT: NOBODYS, ...more });
  return (JSON.parse(stdout) as Finding[]).find(({ check }) => check === "broker");
}

test("none yet, running with its clients, in the way, and not wanted", async () => {
  expect(await finding()).toMatchObject({
    state: "ok",
    says: expect.stringMatching(/the first client starts it/),
  });
  expect(await finding({ UNITY_BROKER_BACKGROUND: "false" })).toMatchObject({
    state: "ok",
    says: expect.stringMatching(/each client serves itself/),
  });
  // Of the same environment as the doctor's.
  const env = { UNITY_BROKER_PORT: NOBODYS };
  const client = await openStdioClient(start("mcp", ["mcp"], env));
  const [pid = 0] = runningBrokers(here().env);
  expect(await finding()).toEqual({
    check: "broker",
    state: "ok",
    says: `1 client, in the background (version 0.1.0, process ${pid})`,
  });
  process.kill(pid, "SIGSTOP");
  expect(await finding()).toMatchObject({
    state: "problem",
    says: expect.stringMatching(new RegExp(`process ${pid} .*does not answer.*broker\\.log`)),
    fix: expect.stringMatching(/ down$/),
  });
  process.kill(pid, "SIGCONT");
  await client.close();
});

test("one in a terminal", async () => {
  const env = { UNITY_BROKER_PORT: NOBODYS };
  const up = start("up", ["up", "--port", "0"], env);
  await up.line(/^MCP endpoint/);
  expect((await finding())?.says).toBe(
    `0 clients, in a terminal (\`up\`) (version 0.1.0, process ${up.pid})`,
  );
});
