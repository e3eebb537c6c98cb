/** ▲10 (d) What an Editor says about who asked for an operation is believed only where a worker of this store said so. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  createRecoverySeal,
  recoveryMetadataOf,
  type Submitted,
} from "../../../src/shared/operation/recover.js";
import type { RecoveryMetadata } from "../../../src/shared/wire/wire.js";
import { ensureRecoveryKey } from "../../../src/worker/recovery/recovery-key.js";
import { ENGINES } from "../../harness/editor/dotnet.js";
import { startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { ORIGIN_KEY, type System, useSystem } from "../../harness/system/system.js";
import { operation } from "../../unit/shared/record.js";
import { own } from "../simulator/simulator-client.js";

const { start } = useSystem();
const KEY = Buffer.alloc(32, 1);
const record = operation({
  keyed: true,
  pool: "pool:android",
  supersedes: "before",
  createdBy: { caller: "ann 1", requestId: 7 },
});
const origin = recoveryMetadataOf(record, "store");
const submitted: Submitted = {
  operationId: record.logId,
  hash: record.hash,
  after: "before",
  acceptedAt: record.acceptedAt,
};
const seal = createRecoverySeal(KEY, "shop@1");
const listed = { ...submitted, state: "running" as const, origin: seal.sign(origin, submitted) };

test("what was submitted is known again, also from the JSON of a ledger and in another order", () => {
  expect(seal.isSigned(listed)).toBe(true);
  const stored = JSON.parse(JSON.stringify(listed)) as typeof listed;
  const turned = Object.fromEntries(Object.entries(stored.origin).reverse());
  expect(seal.isSigned({ ...stored, origin: turned })).toBe(true);
});

const OTHER: Record<keyof RecoveryMetadata & string, unknown> = {
  principal: "bob",
  tool: "other",
  fingerprint: "other",
  storeId: "other",
  keyed: false,
  editorOpen: !origin.editorOpen,
  pool: "pool:other",
  supersedes: "other",
  caller: "bob 1",
  requestId: "7",
  signature: `${"A".repeat(42)}E`,
};

test.each(Object.entries(OTHER))("another %s is not signed", (name, value) => {
  expect(Object.keys(origin)).toEqual(expect.arrayContaining(Object.keys(OTHER).slice(0, -1)));
  expect(seal.isSigned({ ...listed, origin: { ...listed.origin, [name]: value } })).toBe(false);
  const { [name]: _left, ...rest } = listed.origin as Record<string, unknown>;
  expect(seal.isSigned({ ...listed, origin: rest })).toBe(false);
});

test.each([
  ["operationId", "other"],
  ["hash", "other"],
  ["hash", undefined],
  ["after", null],
  ["acceptedAt", record.acceptedAt + 1],
  ["acceptedAt", undefined],
])("another %s beside it (%s) is not signed", (name, value) => {
  expect(seal.isSigned({ ...listed, [name]: value })).toBe(false);
});

test("another key, another Editor, and anything else that is no origin, is not signed", () => {
  expect(createRecoverySeal(Buffer.alloc(32, 2), "shop@1").isSigned(listed)).toBe(false);
  expect(createRecoverySeal(KEY, "yard@1").isSigned(listed)).toBe(false);
  for (const none of [undefined, null, [], "x", { ...listed.origin, signature: 7 }, origin]) {
    expect(seal.isSigned({ ...listed, origin: none })).toBe(false);
  }
});

/** The Editor's ledger holds an operation that the store knows nothing of, and the worker comes. */
async function importing(
  forge: (signed: RecoveryMetadata) => RecoveryMetadata,
): Promise<{ system: System; logId: string }> {
  const system = await start({ worker: null });
  const { editor, store } = system;
  const logId = "forged";
  const owner = await own(editor, { storeId: store.storeId() });
  const about = { operationId: logId, hash: "h", after: null, acceptedAt: Date.now() };
  const asked = recoveryMetadataOf(operation({ principal: "ann", tool: "work" }), store.storeId());
  const signed = createRecoverySeal(ORIGIN_KEY, editor.editorId).sign(asked, about);
  await owner.submit(logId, { ...about, tool: "work", arguments: { Name: "a" }, origin: forge(signed) });
  await owner.finished(logId);
  owner.close();
  await system.addWorker();
  await system.present(editor);
  return { system, logId };
}

test("an operation that a worker submitted gets its record back", async () => {
  const { system, logId } = await importing((signed) => signed);
  expect((await system.client("ann").outcome(logId)).record).toMatchObject({
    principal: "ann",
    state: "completed",
  });
});

test.each<[string, (signed: RecoveryMetadata) => RecoveryMetadata]>([
  ["for another principal", (signed) => ({ ...signed, principal: "bob" })],
  ["as of the release before, unsigned", ({ signature: _none, ...unsigned }) => unsigned],
])("an operation that an Editor tells %s does not", async (_how, forge) => {
  const { system, logId } = await importing(forge);
  const { operations } = system.store;
  expect(await operations.find(logId)).toBeUndefined();
  expect(await operations.tombstone(logId)).toBeUndefined();
  for (const principal of ["ann", "bob"]) expect(await operations.listOf(principal, 10)).toEqual([]);
  const { record } = await system.client("bob").submit("work", { Name: "b" });
  expect((await system.client("bob").outcome(record.logId)).record.state).toBe("completed");
});

test.each(ENGINES)("an Editor keeps an origin as it was signed, also over a crash (%s)", async (engine) => {
  const editor = await startEditorUnderTest(engine);
  const seal = createRecoverySeal(KEY, editor.editorId);
  const about = { operationId: "op", hash: "h", after: null, acceptedAt: 1_700_000_000_123 };
  const strange = {
    ...origin,
    // A reader that guesses dates and numbers would write them otherwise.
    principal: "2024-01-02T03:04:05.600Z",
    caller: 'ü \u2028 \u0000 "</script>',
    requestId: 9_007_199_254_740_991,
    later: { field: [1.5, null] },
  };
  const owner = await editor.owner();
  await owner.submit("op", { ...about, origin: seal.sign(strange, about) });
  await owner.finished("op");
  const isKept = async (list: Promise<object[]>): Promise<boolean> =>
    (await list).every((listed) => seal.isSigned(listed as never));
  expect(await isKept(owner.list())).toBe(true);
  await editor.crashAndRestart();
  const next = await editor.owner();
  expect(await next.list()).toHaveLength(1);
  expect(await isKept(next.list())).toBe(true);
  await editor.close();
});

test("processes that start at once agree on the key, which nobody else can read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ujb-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "data", "origin.key");
  const keys = await Promise.all(Array.from({ length: 10 }, () => ensureRecoveryKey(file)));
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
  expect(keys[0]).toHaveLength(32);
  expect(readFileSync(file, "utf8").trim()).toBe(keys[0]?.toString("hex"));
  if (process.platform !== "win32") expect(statSync(file).mode & 0o077).toBe(0);
  writeFileSync(file, "not a key\n");
  await expect(ensureRecoveryKey(file)).rejects.toThrow(/holds no key/);
});
