/** An Editor: the real admission over a ledger in memory, one execution at a time, restarts and domain reloads. */

import { type AdmitLedger, admit, type Fence } from "../../../src/shared/operation/decide.js";
import type { EditorMark } from "../../../src/shared/operation/operation.js";
import {
  EDITOR_CODES,
  type GetAnswer,
  type HelloResult,
  type Outcome,
  type SubmitAnswer,
  type SubmitParams,
} from "../../../src/shared/wire/wire.js";
import type { Oracle } from "./oracle.js";
import type { Random } from "./schedule.js";

/** What the ledger keeps of an operation. */
export type Entry = Pick<SubmitParams, "operationId" | "hash" | "argumentsHash" | "origin"> & {
  after?: string | null;
  acceptedAt?: number;
  state: "accepted" | "running" | "not_started" | "revoked" | Outcome["status"];
  readOnly: boolean;
  startedAt?: number;
  outcome?: Outcome;
};

export class Refused extends Error {
  readonly code: number;
  readonly highestEpoch: number;
  constructor(code: number, highestEpoch = 0) {
    super(`refused with ${code}`);
    this.code = code;
    this.highestEpoch = highestEpoch;
  }
}

export type Editor = ReturnType<typeof createEditor>;

export function createEditor(
  deps: { oracle: Oracle; random: Random; now(): number },
  isReadOnly: (tool: string) => boolean,
) {
  const { oracle, random } = deps;
  let entries: Entry[] = [];
  let fence: Fence | undefined;
  let sessions = 1;
  let generation = 0;
  let tell: (event: "running" | "finished", entry: Entry) => void = () => undefined;

  const find = (operationId: string) => entries.find((entry) => entry.operationId === operationId);
  const mark = (): EditorMark => ({ editorSessionId: `session-${sessions}`, generation, assetCounter: 0 });
  const running = () => entries.find(({ state }) => state === "running");
  const ledger: AdmitLedger = {
    ledgerId: "ledger",
    get fence() {
      return fence;
    },
    forgetHorizon: 0,
    get: find,
    latestOfHash: (hash) => entries.findLast((e) => e.hash === hash && e.state !== "revoked" && !e.readOnly),
    hasTool: () => true,
    isReadOnly,
    securityRefusal: () => undefined,
  };

  const end = (entry: Entry, status: Outcome["status"]): void => {
    const endedAt = deps.now();
    const began = entry.startedAt;
    const times = began === undefined ? {} : { startedAt: began, executionMs: endedAt - began };
    const result = status === "completed" ? { result: `result of ${entry.operationId}` } : {};
    entry.outcome = { status, endedAt, ...times, ...result, endedIn: { ...mark() } };
    entry.state = status;
    tell("finished", entry);
  };
  const forget = (lost: Entry[]): void => {
    entries = entries.filter((entry) => !lost.includes(entry));
  };

  return {
    session: () => `session-${sessions}`,
    ledgerId: ledger.ledgerId,
    mark,
    /** As `bridge/hello` and `operation/list` tell of it. */
    helloResult: () =>
      ({
        editorSessionId: `session-${sessions}`,
        open: entries.filter(
          ({ outcome, state }) => !outcome && state !== "revoked" && state !== "not_started",
        ),
        unacknowledged: entries.filter(({ outcome }) => outcome).map(({ operationId }) => operationId),
      }) as unknown as HelloResult,
    list: async () => entries.filter(({ readOnly }) => !readOnly),
    entries: (): readonly Entry[] => entries,
    seat(listener: typeof tell): void {
      tell = listener;
    },

    hello(wanted: Fence): void {
      const isLower = fence !== undefined && wanted.epoch < fence.epoch;
      const isOther = wanted.epoch === fence?.epoch && wanted.ownerNonce !== fence.ownerNonce;
      if (isLower || isOther) throw new Refused(EDITOR_CODES.FENCED, fence?.epoch);
      fence = wanted;
    },

    submit(params: SubmitParams): SubmitAnswer {
      const admitted = admit(ledger, params);
      switch (admitted.kind) {
        case "run": {
          forget(entries.filter((entry) => entry.operationId === params.operationId));
          const { operationId, hash, argumentsHash, origin, tool, after, acceptedAt } = params;
          const readOnly = isReadOnly(tool);
          entries.push({
            operationId,
            hash,
            argumentsHash,
            origin,
            after,
            acceptedAt,
            readOnly,
            state: "accepted",
          });
          return { state: "accepted", ledgerSeq: 1 };
        }
        case "refuse":
          throw new Refused(EDITOR_CODES[admitted.code], admitted.highestEpoch);
        default: {
          const { kind, ...answer } = admitted;
          return { state: kind, ledgerSeq: 1, ...answer } as SubmitAnswer;
        }
      }
    },
    get(operationId: string): GetAnswer {
      const entry = find(operationId);
      if (!entry) return { state: "unknown", ledgerSeq: 1 };
      return { state: entry.state, ledgerSeq: 1, ...(entry.outcome ? { outcome: entry.outcome } : {}) };
    },
    revoke(operationId: string): { state: "revoked" | "already_started" | "finished" } {
      const entry = find(operationId);
      if (!entry) {
        const unseen = { hash: "", argumentsHash: "", origin: { principal: "", tool: "", fingerprint: "" } };
        entries.push({ operationId, ...unseen, readOnly: false, state: "revoked" });
      } else if (entry.state === "running") return { state: "already_started" };
      else if (entry.outcome) return { state: "finished" };
      else entry.state = "revoked";
      return { state: "revoked" };
    },
    cancel(operationId: string): "cancelled" | "requested" | "finished" {
      const entry = find(operationId);
      if (entry?.state !== "accepted" && entry?.state !== "running") return "finished";
      const began = entry.state === "running";
      if (!began || random.chance(0.5)) end(entry, "cancelled");
      return began ? "requested" : "cancelled";
    },

    /** The main thread goes on: begins what waits, or ends what runs. False when there is nothing to do. */
    work(): boolean {
      const current = running();
      if (current) {
        end(current, random.chance(0.15) ? "failed" : "completed");
        return true;
      }
      const next = entries.find(({ state }) => state === "accepted");
      if (!next) return false;
      oracle.begins(next, entries);
      Object.assign(next, { state: "running", startedAt: deps.now() });
      tell("running", next);
      return true;
    },

    /** A domain reload: the same session; only some tools survive it. */
    reload(): void {
      tell = () => undefined;
      generation += 1;
      forget(entries.filter(({ readOnly, outcome }) => readOnly && !outcome));
      const current = running();
      if (current && random.chance(0.5)) end(current, "interrupted");
    },
    /** Another process: an `accepted` that was not flushed is lost, the others have not started. */
    restart(): void {
      tell = () => undefined;
      sessions += 1;
      forget(entries.filter(({ readOnly }) => readOnly));
      forget(entries.filter(({ state }) => state === "accepted" && random.chance(0.3)));
      for (const entry of entries) {
        if (entry.state === "accepted") entry.state = "not_started";
        if (entry.state === "running") end(entry, "interrupted");
      }
    },
  };
}
