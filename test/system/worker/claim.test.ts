/** `unity-broker editors claim` and `editors forget`, as a person types them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROTOCOL_VERSION } from "../../../src/shared/wire/wire.js";
import { createConnection } from "../../../src/worker/transport/connection.js";
import { askProven } from "../../harness/editor/proof.js";
import { eventually } from "../../harness/eventually.js";
import { useCommandLine } from "../../harness/processes/command-line.js";

const { type, start, here, closeLater } = useCommandLine();
const log = { debug() {}, info() {}, warn() {}, error() {} };

test("says whose an Editor is, and takes it over from another broker; names that fit none, and other words, are refused", async () => {
  const args = ["--port", "0", "--ledger-folder", join(here().folder, "ledger")];
  await start("editor", ["simulate", ...args]).line(/^Simulated Unity Editor/);
  const editors = here().env.UNITY_BROKER_EDITORS_DIR ?? "";
  const [file = ""] = readdirSync(editors).filter((name) => name.endsWith(".json"));
  const { editorId, port, token } = JSON.parse(readFileSync(join(editors, file), "utf8"));
  const other = createConnection({ host: "127.0.0.1", port, log, onNotification() {} });
  closeLater(() => other.close());
  const names = { storeId: "another", brokerId: "b", workerId: "w", version: "1" };
  const hello = { protocol: PROTOCOL_VERSION, ...names, epoch: 1, ownerNonce: "n" };
  await askProven(other, { port, token }, "bridge/hello", hello);

  for (const command of ["editors", "doctor"]) {
    const { stdout } = await type([command]);
    const said = stdout.replace(/\s+/g, " ");
    expect(said, command).toContain("belongs to another broker (b, version 1, store another, since ");
    expect(said, command).toContain('`unity-broker editors claim "Simulated Project"`');
  }
  const [listed] = JSON.parse((await type(["editors", "--json"])).stdout);
  expect(listed).toMatchObject({ id: editorId, connected: false, diagnosis: { code: "FOREIGN_BROKER" } });

  const nobody = await type(["editors", "claim", "shop"]);
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining(`Running here: ${editorId}`) });
  expect(await type(["editors", "steal", editorId])).toMatchObject({ code: 2 });

  const claimed = await type(["editors", "claim", "simulated-project@"]);
  expect(claimed.code, claimed.stderr).toBe(0);
  expect(claimed.stdout).toMatch(/belongs to this broker now \(store \S+\); it belonged to store another\./);
  await other.closed;
  // A command looks for its Editors for a moment only; on a busy machine the first may be too early.
  await eventually(async () => /ready/.test((await type(["editors"])).stdout), "the Editor is ours");
  const again = await type(["editors", "claim", editorId, "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({ open: [] });
});

test("forgets an Editor that is gone, and what waits for it; not one that is connected", async () => {
  const args = ["--port", "0", "--ledger-folder", join(here().folder, "ledger")];
  const editor = start("editor", ["simulate", ...args]);
  await editor.line(/^Simulated Unity Editor/);
  const worker = start("worker", ["worker"]);
  await eventually(async () => /ready/.test((await type(["editors"])).stdout), "the Editor is known");
  const refused = await type(["editors", "forget", "Simulated Project"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("is connected") });
  expect(await type(["editors", "forget"])).toMatchObject({ code: 2 });

  await editor.kill();
  await worker.kill();
  await eventually(async () => !/ready/.test((await type(["editors"])).stdout), "the Editor is away");
  const waiting = await type([
    "call",
    "execute-menu-item",
    "--json",
    '{"MenuItemPath":"A"}',
    "--timeout",
    "0",
  ]);
  const { log_id } = JSON.parse(waiting.stdout);
  const forgotten = await type(["editors", "forget", "SIMULATED PROJECT", "--json"]);
  expect(JSON.parse(forgotten.stdout)).toMatchObject({
    editor: { project: "Simulated Project", connected: false },
    ended: [{ log_id, tool: "execute-menu-item", state: "expired", error_code: "EXPIRED" }],
  });
  const again = await type(["editors", "forget", "simulated"]);
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No Unity Editor has been seen yet"),
  });
  expect((await type(["status", log_id])).stdout).toContain("forgotten");
});
