/** A broker that is stopped: its clients are not held up, it can be ended, and nothing runs twice. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokerFolder } from "../../../src/cli/pipe/broker-place.js";
import { createPipe } from "../../../src/cli/pipe/pipe.js";
import { endBroker, reachBroker } from "../../../src/cli/pipe/reach-broker.js";
import { identify } from "../../../src/shared/machine/living-process.js";
import { WAITS } from "../../../src/shared/wait-time.js";
import { createLinePeer, createPipes, INITIALIZE, toolCall } from "../../harness/mcp/mcp.js";
import { brokerStatus, runningBrokers } from "../../harness/processes/brokers.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { until } from "../../harness/processes/processes.js";

const { start, here, closeLater } = useCommandLine();

/** `lookMs`: as in a client's pipe, if undefined: a broker that loads its modules may be silent for long. */
function pipe(lookMs?: number) {
  const { env } = here();
  const folder = brokerFolder(env);
  const streams = createPipes();
  const connect = () => reachBroker({ folder, env, version: "0.0.0" });
  const opened = createPipe(
    {
      waits: WAITS,
      version: "0.0.0",
      folder: here().folder,
      connect,
      ...(lookMs === undefined ? {} : { lookMs }),
    },
    streams,
  );
  closeLater(async () => {
    streams.stdin.end();
    await opened.closed;
  });
  return { folder, client: createLinePeer(streams) };
}

const block = (id: number, seconds: number) =>
  toolCall(id, "execute-menu-item", { MenuItemPath: `Simulator/Block For ${seconds} Seconds`, timeout: 20 });
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
const textOf = (answer: unknown): string => JSON.stringify(answer);

test.skipIf(process.platform === "win32")(
  "open requests are refused with what to do, and their retry finds the operation",
  async () => {
    const counter = join(here().folder, "executions.log");
    const executions = () => readFileSync(counter, "utf8").split("\n").filter(Boolean).length;
    const ledger = join(here().folder, "ledger");
    const editor = start("editor", [
      "simulate",
      "--port",
      "0",
      "--ledger-folder",
      ledger,
      "--counter-file",
      counter,
    ]);
    await editor.line(/^Simulated Unity Editor/);

    const { client: other } = pipe();
    other.send(INITIALIZE, INITIALIZED, block(1, 0));
    expect(textOf(await other.answer(1))).toContain("completed");
    // The looks fit into a call several times: a broker that works is asked, and says so.
    const { client, folder } = pipe(300);
    client.send(INITIALIZE, INITIALIZED, block(2, 2));
    expect(textOf(await client.answer(2))).toContain("completed");

    client.send(block(3, 3));
    await until("it runs", () => executions() === 3);
    const [pid] = runningBrokers(here().env) as [number];
    here().processes.guard(pid);
    process.kill(pid, "SIGSTOP");
    expect((await client.answer(3)).error?.message).toMatch(
      new RegExp(`^The broker \\(process ${pid}\\) does not answer.*unity-broker down`),
    );
    client.send(block(6, 3));
    expect((await client.answer(6)).error?.message).toContain("does not answer");

    expect(await endBroker(folder, "0.0.0", { answerMs: 100, signalMs: 100 })).toBe("killed");
    await until("it is gone", () => identify(pid) === undefined);
    other.send(block(4, 3));
    expect(textOf(await other.answer(4))).toContain("completed");
    expect((await brokerStatus(here().env)).pid).not.toBe(pid);
    expect(executions()).toBe(3);
  },
);
