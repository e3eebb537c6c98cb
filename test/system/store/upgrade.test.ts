/**
 * What the release before has written, with work queued, running and told, is taken over while its clients retry; with
 * its token file, whose principals had no ids.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createTokens, type Tokens } from "../../../src/gateway/auth/tokens.js";
import type { Submission } from "../../../src/gateway/submit.js";
import { answerOf } from "../../../src/shared/operation/answer.js";
import type { Caller, OperationRecord } from "../../../src/shared/operation/operation.js";
import { FIRST_INCARNATION } from "../../../src/shared/store/incarnation.js";
import { keys, SCHEMA_VERSION } from "../../../src/shared/store/keys.js";
import { recoveryMetadataOf } from "../../../src/shared/wire/recovery-metadata.js";
import type { SimulatedEditor } from "../../../src/simulator/editor.js";
import {
  type DumpedOperation,
  operationsIn,
  putDump,
  readDump,
  type StoreDump,
} from "../../harness/redis/store-dump.js";
import { type Client, clientOf } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";
import { type Owner, own } from "../simulator/simulator-client.js";

const { start } = useSystem();
const HOUR = 3_600_000;

const owners: Owner[] = [];
afterEach(() => {
  for (const owner of owners.splice(0)) owner.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const folders: string[] = [];
const TOKENS = { ann: "ujb_of-ann", bob: "ujb_of-bob" };

/** As the release before wrote them. */
function tokensOfBefore(): Tokens {
  const folder = mkdtempSync(join(tmpdir(), "ujb-upgrade-"));
  folders.push(folder);
  const file = join(folder, "tokens.json");
  const createdAt = "2026-08-01T00:00:00.000Z";
  const tokens = Object.entries(TOKENS).map(([principal, token]) => {
    const sha256 = createHash("sha256").update(token).digest("hex");
    return { principal, sha256, createdAt, band: "interactive" };
  });
  writeFileSync(file, JSON.stringify({ tokens }), { mode: 0o600 });
  return createTokens(file);
}

/** An Editor lives through what the dump says that it was sent, by its broker of that time, and stands where it stood. */
async function live(editor: SimulatedEditor, storeId: string, sent: DumpedOperation[]): Promise<void> {
  const connect = async (): Promise<Owner> => {
    const owner = await own(editor, { storeId, ownerNonce: "the owner before" });
    owners.push(owner);
    return owner;
  };
  let owner = await connect();
  for (const { record, args } of sent) {
    const { logId: operationId, hash, after, tool, fingerprint, acceptedAt, state } = record;
    const origin = recoveryMetadataOf(record, storeId);
    if (state === "dispatched") editor.faults.stallMainThread(HOUR);
    await owner.submit(operationId, {
      hash,
      after,
      tool,
      arguments: args,
      argumentsHash: fingerprint,
      acceptedAt,
      origin,
    });
    if (state === "dispatched") continue;
    if (state === "running" || state === "interrupted") {
      await owner.notice("operation/running", (params) => params.operationId === operationId);
    }
    if (state === "running") continue;
    if (state === "interrupted") {
      await editor.faults.reload();
      owner = await connect();
    }
    expect(await owner.finished(operationId)).toMatchObject({ status: state });
    await owner.request("operation/ack", { operationIds: [operationId] });
  }
  owner.close();
}

interface Upgrade {
  system: System;
  /** Has an operation that was sent and not begun. */
  dock: SimulatedEditor;
  /** By the name of the work ("again" when it was forced), else by the tool and the Editor; of several the first. */
  of(name: string): OperationRecord;
  dump: StoreDump;
  tokens: Tokens;
  /** A client of a new gateway, in a session of its own unless one is given. */
  session(caller?: Caller | null, name?: keyof typeof TOKENS): Client;
}

/** The Editors as they are, the store as it was left, new gateways, and no worker yet. */
async function upgrade(): Promise<Upgrade> {
  const dump = readDump("store-of-schema-2.json");
  const operations = operationsIn(dump).toSorted((a, b) => a.record.acceptedAt - b.record.acceptedAt);
  const storeId = String(dump.keys.find(({ key }) => key === keys.storeId)?.value);
  const called = ({ record, args }: DumpedOperation): string =>
    `${args.Name ?? `${record.tool} ${args.FilterValue ?? record.editor}`}${record.supersedes ? " again" : ""}`;
  const project = (name: string) => ({ projectPath: `/projects/${name}`, timeScale: 0.01 });
  const tokens = tokensOfBefore();
  const editor = { editorId: "shop@0a", ...project("shop") };
  const system = await start({ worker: null, principals: tokens, editor });
  // What a later command line writes.
  await tokens.create("eve");
  const ids = new Map<string, string>();
  for (const [name, token] of Object.entries(TOKENS)) {
    ids.set(name, String((await tokens.identify(token))?.principal.id));
  }
  const yard = await system.addEditor({ editorId: "yard@0b", ...project("yard") });
  const dock = await system.addEditor({ editorId: "dock@0c", ...project("dock") });
  const editors = [system.editor, yard, dock];
  for (const editor of editors) {
    const sent = operations.filter(
      ({ record }) => record.editor === editor.editorId && record.sentIn !== undefined,
    );
    await live(editor, storeId, sent);
  }
  await system.redis.flush();
  await putDump(
    system.hand,
    dump,
    editors.flatMap((editor): [string, string][] => {
      const then = dump.sessions[editor.editorId];
      const { editorSessionId, ledgerId } = editor.status();
      return then
        ? [
            [then.session, editorSessionId],
            [then.ledger, ledgerId],
          ]
        : [];
    }),
  );
  const gateways = [await system.addGateway(), await system.addGateway()];
  let sessions = 0;
  return {
    system,
    dock,
    dump,
    tokens,
    of(name) {
      const found = operations.find((operation) => called(operation) === name);
      if (!found) throw new Error(`no ${name}; there are ${operations.map(called).join(", ")}`);
      return found.record;
    },
    session(caller, name = "ann") {
      sessions += 1;
      const gateway = gateways[sessions % gateways.length];
      if (!gateway) throw new Error("no gateway");
      const own: Caller = { id: `session ${sessions} after the upgrade`, transport: "http" };
      return clientOf(gateway.broker, String(ids.get(name)), caller === undefined ? own : caller);
    },
  };
}

describe("a store of the release before", () => {
  test("is upgraded under load: every retry finds its operation, and nothing begins twice", async () => {
    const { system, dock, dump, of, session } = await upgrade();
    const { bench, executions, hand } = system;
    const on = (editor: string) => ({ editor: `${editor}@` });
    const forced = { ...on("shop"), force_new: of("forced").logId };
    const held = (Name: string) => ({ Name, Hold: true });

    type Call = Parameters<Client["submit"]>;
    /** Several clients send the call at once, in sessions of their own and in none. */
    const others = (...call: Call) =>
      [session(), session(), session(null), session(), session(null)].map((client) => client.submit(...call));
    /** The session that made what the dump holds sends another request. */
    const creator = (...[tool, args, meta]: Call) => {
      const client = session({ id: "session of ann", transport: "http" });
      return client.send({ ...client.callOf(tool, args, meta), requestId: 1_000 });
    };
    const sendAtOnce = (...call: Call) => Promise.all([...others(...call), creator(...call)]);
    const finds = async (
      name: string,
      relation: "joined" | "replayed",
      submissions: Promise<Submission[]>,
    ): Promise<void> => {
      const expected = { name, relation, logId: of(name).logId };
      for (const { relation, record } of await submissions) {
        expect({ name, relation, logId: record.logId }).toEqual(expected);
      }
    };
    /** One new operation answers them all. */
    const runsOnceMore = async (...call: Parameters<Client["submit"]>): Promise<string> => {
      const submissions = await sendAtOnce(...call);
      const logIds = [...new Set(submissions.map(({ record }) => record.logId))];
      expect(logIds).toHaveLength(1);
      expect(submissions.filter(({ relation }) => relation === "created")).toHaveLength(1);
      return String(logIds[0]);
    };

    // The worker comes while they retry, and what runs keeps Unity's main thread for as long as they do.
    const [testsAgain] = await Promise.all([
      runsOnceMore("run-tests", {}, on("shop")),
      finds("told", "replayed", sendAtOnce("work", { Name: "told" }, on("shop"))),
      finds("untold", "replayed", sendAtOnce("work", { Name: "untold" }, on("shop"))),
      finds("keyed", "replayed", sendAtOnce("work", { Name: "keyed" }, { idempotency_key: "nightly" })),
      finds("forced again", "replayed", sendAtOnce("work", { Name: "forced" }, forced)),
      finds("lost", "replayed", sendAtOnce("work", held("lost"), on("shop"))),
      // Who had read what is not known of that release: what was told answers, as long as anything that was told does.
      finds("read", "replayed", sendAtOnce("work", { Name: "read" }, on("shop"))),
      finds("behind", "replayed", sendAtOnce("work", { Name: "behind" }, on("shop"))),
      finds("run-tests yard@0b", "replayed", sendAtOnce("run-tests", {}, on("yard"))),
      finds("running", "joined", sendAtOnce("work", held("running"), on("shop"))),
      finds("sent", "joined", sendAtOnce("work", { Name: "sent" }, on("dock"))),
      finds("queued work", "joined", sendAtOnce("work", { Name: "queued work" }, on("shop"))),
      system.addWorker(),
    ]);
    // CallAnswer, too, and it counts as a change, which a later call must see.
    const setAgain = await runsOnceMore("put", { Name: "set" }, on("shop"));
    const created = [testsAgain, setAgain];
    expect(await hand.get(keys.schema)).toBe(String(SCHEMA_VERSION));
    expect(await hand.hget(keys.incarnation, "id")).toBe(FIRST_INCARNATION);

    // What answered is told as what it is.
    const reported = of("told");
    const answer = answerOf(await session().outcome(reported.logId), { duplicate: "replayed" });
    expect(answer).toMatchObject({
      status: "completed",
      deduplicated: true,
      executed_at: new Date(reported.startedAt ?? 0).toISOString(),
      force_new: reported.logId,
      result: { Done: "told" },
    });
    expect(answerOf(await session().outcome(of("lost").logId))).toMatchObject({
      status: "error",
      error_code: "OUTCOME_UNKNOWN",
      force_new: of("lost").logId,
    });

    bench.finish("running");
    for (const name of ["running", "queued work", "queued put", "run-tests queued"]) {
      expect([name, (await session().outcome(of(name).logId)).record.state]).toEqual([name, "completed"]);
    }
    const bobs = of("queued by bob").logId;
    expect((await session(null, "bob").outcome(bobs)).record.state).toBe("completed");
    for (const logId of created) {
      expect((await session().outcome(logId)).record.state).toBe("completed");
    }

    dock.faults.stallMainThread(0);
    expect((await session().outcome(of("sent").logId)).record.state).toBe("completed");

    // Nobody was told of these yet: their outcomes answer, too.
    await finds("running", "replayed", sendAtOnce("work", held("running"), on("shop")));
    await finds("queued work", "replayed", sendAtOnce("work", { Name: "queued work" }, on("shop")));
    const once = ["told", "untold", "keyed", "lost", "read", "behind", "running", "sent"];
    const began = [...once, "queued work", "queued put", "queued by bob"];
    expect(Object.fromEntries(began.map((name) => [name, executions(name)]))).toEqual(
      Object.fromEntries(began.map((name) => [name, 1])),
    );
    expect([executions("forced"), executions("set")]).toEqual([2, 2]);
    // Those of the shop and the yard, those that were queued, and those that were told and run again.
    expect(executions("run-tests")).toBe(4);
    const known = await hand.keys(keys.operation("*"));
    expect(known).toHaveLength(operationsIn(dump).length + created.length);
  });
});
