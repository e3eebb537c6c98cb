/** A bridge without a ledger whose connection ends while a call is being accepted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TOOL_LIMITS } from "../src/shared/tool-limits.js";
import type { SubmitParams } from "../src/shared/wire.js";
import { type Connection, createConnection } from "../src/worker/connection.js";
import { createPlainEditor } from "../src/worker/plain-editor.js";
import { expectNoLeak } from "./harness/leaks.js";
import { SILENT } from "./harness/silent.js";
import { startTcpPeer, type TcpPeer } from "./harness/tcp-peer.js";

let peer: TcpPeer;
let folder: string;
const lines: Connection[] = [];

beforeEach(async () => {
  peer = await startTcpPeer();
  folder = mkdtempSync(join(tmpdir(), "ujb-plain-"));
});

afterEach(async () => {
  for (const line of lines.splice(0)) await line.close();
  await peer.close();
  rmSync(folder, { recursive: true, force: true });
  await expectNoLeak();
});

const CALL: SubmitParams = {
  ...{ operationId: "one", hash: "h", after: null, acceptedAt: 1, tool: "work", arguments: { Name: "a" } },
  ...{ argumentsHash: "f", origin: { principal: "ann", tool: "work", fingerprint: "f" } },
  ...{ epoch: 1, ownerNonce: "n", ledgerId: "l" },
};

test("it was not sent there, says so, and the next connection sends it", async () => {
  // The store's answer, by which the call is judged, comes when the test says so.
  let answer: () => void = () => undefined;
  let asked = 0;
  const effectOf = async (): Promise<"mutating"> => {
    asked += 1;
    if (asked === 1) await new Promise<void>((resolve) => (answer = resolve));
    return "mutating";
  };
  const editor = createPlainEditor({
    ...{ sentFolder: folder, log: SILENT, effectOf, limits: TOOL_LIMITS },
    identity: { editorId: "game@1", projectName: "Game", projectPath: undefined },
  });
  const connect = async () => {
    const line = createConnection({ host: "127.0.0.1", port: peer.port, log: SILENT, onNotification() {} });
    lines.push(line);
    await line.opened;
    return { line, there: await peer.accept(), ...(await editor.greet(line, () => undefined)) };
  };
  const before = await connect();
  const first = before.calls.submit(CALL);
  const refused = expect(first).rejects.toMatchObject({ name: "ConnectionLost", sent: false });
  before.there.end();
  await before.line.closed;
  const after = await connect();
  answer();
  await refused;
  expect(await after.calls.submit(CALL)).toMatchObject({ state: "accepted" });
  const { id, params } = await after.there.nextRequest("work");
  expect(params).toMatchObject({ Name: "a" });
  after.there.reply(id, {});
});
