/** A store with hundreds of Editors and a hundred thousand operations that have ended, as the store itself writes them. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { OperationRecord, State } from "../../../src/shared/operation/operation.js";
import type { EditorLive, EditorProfile } from "../../../src/shared/store/editors/editors.js";
import { keys } from "../../../src/shared/store/keys.js";
import { documentOf } from "../../../src/shared/store/operations/record.js";

const ENDS: readonly State[] = ["completed", "completed", "completed", "failed", "cancelled", "interrupted"];
const TOOLS = ["run-tests", "build-player", "execute-menu-item", "compile", "get-logs"];
/** Records written at once. */
const AT_ONCE = 2_000;
/** Signs of life of Editors that have no worker: from then. */
const AHEAD_MS = 600_000;

/** Without the messages of a worker that introduces them one by one. */
export async function addEditors(redis: Redis, count: number, now: number): Promise<void> {
  const writes = redis.pipeline();
  for (let at = 0; at < count; at += 1) {
    const profile: EditorProfile = {
      editorId: `project-${at}@${String(at).padStart(8, "0")}`,
      projectName: `project-${at}`,
      projectPath: `/projects/project-${at}`,
      unityVersion: "6000.0.30f1",
      pid: 1_000 + at,
      editorSessionId: `session-${at}`,
      generation: 1,
      assetCounter: 1,
      labels: ["farm", at % 2 === 0 ? "android" : "ios"],
    };
    const live: EditorLive = { phase: "ready", mainThreadStallMs: 0, queued: 0 };
    writes.zadd(keys.editors, now + AHEAD_MS, profile.editorId);
    writes.hset(keys.editor(profile.editorId), {
      profile: JSON.stringify(profile),
      live: JSON.stringify(live),
    });
  }
  await writes.exec();
}

export async function addOperations(
  redis: Redis,
  principal: string,
  count: number,
  now: number,
): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const writes = redis.pipeline();
    for (let at = from; at < Math.min(count, from + AT_ONCE); at += 1) {
      const record = ended(at, principal, now - 500 * (count - at));
      writes.hset(keys.operation(record.logId), { doc: documentOf(record), mutationSeq: at, turn: at });
      writes.zadd(keys.principal(principal), record.acceptedAt, record.logId);
    }
    await writes.exec();
  }
  await redis.zadd(keys.principals, now, principal);
}

function ended(at: number, principal: string, acceptedAt: number): OperationRecord {
  const state = ENDS[at % ENDS.length] ?? "completed";
  return {
    logId: randomUUID(),
    hash: `hash-${at}`,
    fingerprint: `fingerprint-${at}`,
    principal,
    tool: TOOLS[at % TOOLS.length] ?? "",
    effect: "repeatable",
    lane: "main",
    cancellable: true,
    keyed: false,
    editor: `project-${at % 200}@${String(at % 200).padStart(8, "0")}`,
    editorOpen: false,
    after: null,
    order: 1,
    entered: 1,
    incarnation: "",
    mutationSeq: at,
    state,
    acceptedAt,
    dispatchedAt: acceptedAt + 20,
    startedAt: acceptedAt + 40,
    endedAt: acceptedAt + 400,
    executionMs: 360,
    createdBy: { caller: null, requestId: null, client: `client-${at % 7}` },
    ...(state === "failed"
      ? { error: { code: "TOOL_FAILED", type: "failed", message: `Test ${at} failed` } }
      : {}),
  };
}
