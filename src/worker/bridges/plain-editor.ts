/**
 * Drives an Editor whose bridge keeps no ledger as if it kept one: the same `admit` reads the worker's own record
 * (sent-log.ts) instead. So the life of an operation (executor.ts) is the same for every Editor, and what
 * such a bridge cannot know is reported as interrupted. Each bridge's wire is behind bridge.ts.
 *
 * A connection has one request at a time, as these bridges require: a ping waits behind the running tool.
 */
import { join } from "node:path";
import { diskProblem } from "../../shared/machine/disk-problem.js";
import { type AdmittedOperation, admit } from "../../shared/operation/decide.js";
import type { Log } from "../../shared/telemetry.js";
import { readTools, type ToolLimits } from "../../shared/tools/call-rules.js";
import type { Effect, Tool } from "../../shared/tools/tool.js";
import { isRead, lost, plainLedger, unknown } from "../../shared/wire/plain.js";
import { RpcFailure } from "../../shared/wire/rpc.js";
import {
  EDITOR_CODES,
  type HelloResult,
  type Outcome,
  PROTOCOL_VERSION,
  type SubmitParams,
} from "../../shared/wire/wire.js";
import type { EditorCalls } from "../editor/editor-calls.js";
import { ConnectionLost, FrameTooLarge } from "../transport/disconnect.js";
import type { BridgeWire, EditorIdentity, Greeting, Notice } from "./bridge.js";
import { openSentLog, type SentLog, UnusableSentLog } from "./sent-log.js";

// What is known of a call whose answer was lost, to a bridge that keeps no ledger.

/** The answer will not come, or cannot be read. */
function afterLoss(error: unknown, startedAt: number): Outcome {
  const now = Date.now();
  const unsent = error instanceof ConnectionLost ? !error.sent : isOutgoing(error);
  if (unsent) {
    const message = `Not sent: ${(error as Error).message}.`;
    return { status: "failed", error: { type: "not_sent", message }, endedAt: now };
  }
  const after = `${((now - startedAt) / 1000).toFixed(1)} s after it was sent`;
  const what =
    error instanceof ConnectionLost
      ? `The connection to the Editor ended (${error.reason}) ${after}.`
      : `Its answer, ${after}, could not be taken: ${(error as Error).message}.`;
  return unknown(
    `${what} Its bridge keeps no ledger, so nobody can tell whether, or how far, it ran.`,
    startedAt,
    now,
  );
}

function isOutgoing(error: unknown): boolean {
  return error instanceof FrameTooLarge && error.direction === "outgoing";
}

export interface PlainEditor {
  /** Uses this connection without hello. */
  greet(wire: BridgeWire, notice: Notice): Promise<Greeting>;
}

/** `readOnly`: in no chain of identical calls. `repeats`: not recorded, because it may be sent again. */
type Call = AdmittedOperation & { readOnly: boolean; repeats: boolean };

export interface PlainEditorDeps {
  identity: EditorIdentity;
  /** Holds a folder with the sent.log of each Editor. */
  sentFolder: string;
  log: Log;
  /** The tool's effect in the operation's record; undefined: not a read. */
  effectOf(operationId: string): Promise<Effect | undefined>;
  limits: ToolLimits;
  /** For tests of slow disks. */
  openLog?: typeof openSentLog;
}

/** How often the connection is reported to the store as alive, ms. */
const SIGN_OF_LIFE_MS = 1_000;
/** The hash in the log of what belongs to no chain. */
const NO_CHAIN = "-";

/** Kept as long as the worker owns the Editor: outcomes outlive their connection. */
export function createPlainEditor(deps: PlainEditorDeps): PlainEditor {
  const { identity, log } = deps;
  const known = new Map<string, Call>();
  const folder = join(deps.sentFolder, encodeURIComponent(identity.editorId));

  /** Outlives its connection: what is deleted meanwhile is written again. */
  let latestLog: SentLog | undefined;
  const open = async (): Promise<SentLog> => {
    latestLog = await (deps.openLog ?? openSentLog)(folder, { before: latestLog });
    return latestLog;
  };
  const problemOf = (error: unknown, use: "used" | "written"): string =>
    error instanceof UnusableSentLog
      ? error.message
      : `sent.log cannot be ${use}: ${diskProblem(error, folder)}; nothing has to be restarted.`;

  const converse = (wire: BridgeWire, notice: Notice, opened: SentLog | undefined): EditorCalls => {
    let sentLog = opened;
    /** Rejects while the disk refuses it. */
    const refreshed = async (): Promise<SentLog> => {
      try {
        sentLog ??= await open();
        await sentLog.refresh();
        return sentLog;
      } catch (error) {
        throw new RpcFailure({
          code: EDITOR_CODES.LEDGER_UNAVAILABLE,
          message: problemOf(error, "used"),
        });
      }
    };
    let tools = new Map<string, Tool>();
    let turn: Promise<unknown> = Promise.resolve();
    /** Set before the socket is gone: a call that still waits must not be recorded as sent. */
    let gone: ConnectionLost["reason"] | undefined;
    let sending: { call: Call; startedAt: number } | undefined;
    void wire.closed.then((reason) => {
      gone = reason;
      // Told before the next connection is asked, which may be long in coming.
      if (sending && !sending.call.repeats)
        finish(sending.call, afterLoss(new ConnectionLost(reason, true), sending.startedAt));
    });
    const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
      const next = turn.then(work);
      turn = next.catch(() => undefined);
      return next;
    };

    /** Does nothing if the next connection has taken over the operation. */
    const finish = (call: Call, outcome: Outcome): void => {
      const { operationId } = call;
      if (known.get(operationId) !== call || call.outcome) return;
      Object.assign(call, { state: outcome.status, outcome });
      notice("operation/finished", { operationId, outcome, ledgerSeq: 0 });
    };

    /** True: it is on disk, and nobody else sent it. Otherwise it is finished, without having been sent by this worker. */
    const mayBeSent = async (
      { operationId, acceptedAt, ...params }: SubmitParams,
      call: Call,
    ): Promise<boolean> => {
      const hash = call.readOnly ? NO_CHAIN : params.hash;
      const notSent = (type: string, message: string): boolean => {
        finish(call, { status: "failed", error: { type, message }, endedAt: Date.now() });
        return false;
      };
      try {
        if (
          await (sentLog ?? (await refreshed())).enter({ operationId, hash, acceptedAt, sentAt: Date.now() })
        )
          return true;
      } catch (error) {
        const why = error instanceof RpcFailure ? error.message : problemOf(error, "written");
        log.warn({ log_id: operationId, folder, error: why }, "the call is not sent");
        return notSent("ledger_unavailable", `Not sent. ${why}`);
      }
      const why = "Another worker wrote it down as sent; this Editor's bridge keeps no ledger to ask.";
      finish(call, unknown(why, undefined, Date.now()));
      return false;
    };

    const perform = async (params: SubmitParams, call: Call): Promise<void> => {
      const { operationId, tool } = params;
      if (gone !== undefined || call.state !== "accepted") return;
      call.state = "running";
      if (!call.repeats && !(await mayBeSent(params, call))) return;
      const startedAt = Date.now();
      notice("operation/running", { operationId, ledgerSeq: 0 });
      sending = { call, startedAt };
      try {
        finish(call, await wire.call(tool, params.arguments, startedAt));
      } catch (error) {
        if (error instanceof ConnectionLost) gone ??= error.reason;
        // The next connection asks again.
        if (!gone || !call.repeats) finish(call, afterLoss(error, startedAt));
        else if (known.get(operationId) === call) known.delete(operationId);
      } finally {
        sending = undefined;
      }
    };

    const askTools = async (patient: boolean) => {
      const said = await wire.tools(patient);
      tools = new Map(readTools(said.Tools, deps.limits).tools.map((tool) => [tool.name, tool]));
      return said;
    };
    let asked = false;

    return {
      async submit(params) {
        const { operationId, tool } = params;
        const readOnly = isRead(tools.get(tool), tool, (await deps.effectOf(operationId)) ?? "mutating");
        const repeats = readOnly && wire.repeatsReads;
        if (!repeats) await refreshed();
        // From now on the next connection takes calls; one accepted on this connection would wait for ever.
        if (gone) throw new ConnectionLost(gone, false);
        const admitted = admit(
          plainLedger(params, {
            forgetHorizon: sentLog?.forgetHorizon() ?? 0,
            readOnly,
            onConnection: (id) => known.get(id),
            sent: (id) => sentLog?.find(id),
            latestSent: (hash) => sentLog?.latestOfHash(hash),
          }),
          params,
        );
        if (admitted.kind === "refuse")
          throw new RpcFailure({ code: EDITOR_CODES[admitted.code], message: admitted.message });
        if (admitted.kind === "attach") {
          const { state, outcome } = admitted;
          return { state, ...(outcome ? { outcome } : {}), ledgerSeq: 0 };
        }
        if (admitted.kind === "same_as") {
          const { kind: _kind, ...same } = admitted;
          return { state: "same_as", ...same, ledgerSeq: 0 };
        }
        const call: Call = { operationId, state: "accepted", readOnly, repeats };
        known.set(operationId, call);
        void inTurn(() => perform(params, call)).catch((error: Error) =>
          log.debug({ log_id: operationId, error: error.message }, "a call was not sent on this connection"),
        );
        return { state: "accepted", ledgerSeq: 0 };
      },

      async get(operationId) {
        if (sentLog) await refreshed();
        const sent = sentLog?.find(operationId);
        const found = known.get(operationId) ?? (sent && lost(sent));
        if (!found) return { state: "unknown", ledgerSeq: 0 };
        return { state: found.state, ...(found.outcome ? { outcome: found.outcome } : {}), ledgerSeq: 0 };
      },

      async cancel(operationId) {
        const call = known.get(operationId);
        if (call?.state === "running") return { state: "not_cancellable" };
        if (call?.state !== "accepted") return { state: "finished" };
        finish(call, { status: "cancelled", endedAt: Date.now() });
        return { state: "cancelled" };
      },

      async revoke(operationId) {
        // The id is unknown here; from now on it counts as sent.
        const now = Date.now();
        await sentLog
          ?.enter({ operationId, hash: NO_CHAIN, acceptedAt: now, sentAt: now })
          .catch((error: Error) =>
            log.warn({ log_id: operationId, error: error.message }, "sent.log cannot be written"),
          );
        return { state: "revoked" };
      },

      async ack(operationIds) {
        for (const id of operationIds) if (known.get(id)?.outcome) known.delete(id);
      },

      /** The first one at once, like everything before the link is ready; later ones wait behind a running tool. */
      toolDetails: () => {
        if (asked) return inTurn(() => askTools(true));
        asked = true;
        return askTools(false);
      },

      // The bridge has not proven its identity: it gets only what it needs.
      tellClients: () => undefined,
      list: async () => [],
      resultPart: () => Promise.reject(new Error("a plain bridge gives its results whole")),
    };
  };

  return {
    async greet(wire, notice) {
      // Calls that waited on an earlier connection were not sent; the one that it was sending is in the log.
      for (const [id, call] of known) if (!call.outcome) known.delete(id);
      const sentLog = await open().catch((error: Error) => {
        log.warn({ folder, error: error.message }, "sent.log cannot be opened; only reads are sent");
        return undefined;
      });
      const calls = converse(wire, notice, sentLog);
      // Checked against the intended project before anything runs: another project may have taken the port.
      const { unityVersion = "unknown" } = await wire.verify(calls.toolDetails);
      const editorSessionId = sentLog?.id ?? "no sent.log";
      const sign = setInterval(() => {
        const running = [...known.values()].find(({ state }) => state === "running")?.operationId;
        notice("bridge/heartbeat", {
          editorSessionId,
          generation: 0,
          phase: "ready",
          mainThreadStallMs: 0,
          queued: [...known.values()].filter(({ state }) => state === "accepted").length,
          ...(running === undefined ? {} : { runningOperationId: running }),
        });
      }, SIGN_OF_LIFE_MS);
      void wire.closed.then(() => clearInterval(sign));
      const hello: HelloResult = {
        protocol: PROTOCOL_VERSION,
        plain: true,
        bridge: wire.bridge,
        editorId: identity.editorId,
        projectName: identity.projectName,
        projectPath: identity.projectPath ?? "",
        unityVersion,
        pid: 0,
        // Identifies the log that answers: another log does not know what was sent under this one.
        editorSessionId,
        generation: 0,
        assetCounter: 0,
        ledgerId: editorSessionId,
        ledgerSeq: 0,
        toolsHash: "",
        phase: "ready",
        heartbeatSeconds: 0,
        open: [],
        unacknowledged: [],
      };
      return { hello, calls };
    },
  };
}
