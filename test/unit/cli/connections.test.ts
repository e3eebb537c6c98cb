/** The broker's end of its local socket: whom it serves. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConnections } from "../../../src/cli/broker/connections.js";
import { readFrames, writeFrame } from "../../../src/cli/pipe/socket-line.js";
import { PIPE_PROTOCOL, type ToPipe } from "../../../src/shared/pipe/frames.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";

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
