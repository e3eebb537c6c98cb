/** The broker's end of its local socket: whom it serves. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createConnections } from "../../../src/cli/broker/connections.js";
import { readFrames, writeFrame } from "../../../src/cli/pipe/socket-line.js";
import type { PipeSession } from "../../../src/gateway/mcp/pipe/pipe-session.js";
import { PIPE_PROTOCOL, type ToBroker, type ToPipe } from "../../../src/shared/pipe-frames.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";

test("a message waits until the broker has opened, and is heard with the time that it has waited", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ujb-connections-"));
  const heard: ToBroker[] = [];
  let opens: (open: () => PipeSession) => void = () => undefined;
  const connections = createConnections({
    version: "1.0.0",
    opening: new Promise((resolve) => {
      opens = resolve;
    }),
    status: () => ({ isForeground: false, startedAt: 0 }),
    asked: async () => false,
  });
  const server = createServer(connections.add).listen(join(folder, "socket"));
  await once(server, "listening");
  const socket = connect(join(folder, "socket"));
  const pongs: ToPipe[] = [];
  readFrames<ToPipe>(socket, ({ header }) => void (header.kind === "pong" && pongs.push(header)));
  const hello = { version: "1.0.0", session: "s", pid: 1, folder: "/", isResumed: false };
  writeFrame(socket, { kind: "hello", protocol: PIPE_PROTOCOL, ...hello });
  writeFrame(socket, { kind: "message", n: 1, waitedMs: 2_000 }, "{}");
  writeFrame(socket, { kind: "ping" });
  await eventually(() => pongs.length === 1, "the message has arrived");
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + 60_000);
  opens(() => ({
    heard: ({ header }) => void heard.push(header),
    close: async () => undefined,
    closed: Promise.resolve(),
  }));
  await eventually(() => heard.length === 1, "it is heard");
  vi.restoreAllMocks();
  expect(heard[0]).toMatchObject({ kind: "message", n: 1 });
  expect((heard[0] as { waitedMs: number }).waitedMs).toBeGreaterThan(60_000);
  socket.destroy();
  await once(socket, "close");
  server.close();
  rmSync(folder, { recursive: true });
  await expectNoLeak();
});

test("a pipe of another protocol is told what to do, and nothing that it says is heard", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ujb-connections-"));
  const connections = createConnections({
    version: "1.0.0",
    opening: new Promise(() => undefined),
    status: () => ({ isForeground: false, startedAt: 0 }),
    asked: async () => false,
  });
  const server = createServer(connections.add).listen(join(folder, "socket"));
  await once(server, "listening");
  const socket = connect(join(folder, "socket"));
  const heard: ToPipe[] = [];
  readFrames<ToPipe>(socket, ({ header }) => void heard.push(header));
  const hello = { version: "2.0.0", session: "s", pid: 1, folder: "/", isResumed: false };
  writeFrame(socket, { kind: "hello", protocol: PIPE_PROTOCOL + 1, ...hello });
  writeFrame(socket, { kind: "message", n: 1 }, "{}");
  writeFrame(socket, { kind: "ping" });
  await once(socket, "close");
  expect(heard[0]).toMatchObject({ kind: "failed", isUsage: false });
  expect(JSON.stringify(heard[0])).toMatch(/version 2\.0\.0.*version 1\.0\.0.*unity-broker down/);
  expect(heard.filter(({ kind }) => kind !== "pong")).toHaveLength(1);
  expect(connections.sessions()).toEqual([]);
  server.close();
  rmSync(folder, { recursive: true });
  await expectNoLeak();
});
