/**
 * `bridge/hello`: who may own this Editor. After the proof, store and fence are checked, the fence is flushed and
 * the older connection closed before the answer is written. No step in between waits, so nothing below the new fence
 * can be journalled any more (▲11).
 */
import {
  EDITOR_CODES,
  type HandOver,
  HandOverParams,
  HelloParams,
  PROTOCOL_VERSION,
} from "../../shared/wire/wire.js";
import type { Identity } from "../identity.js";
import type { Ledger } from "../ledger/ledger.js";
import { badParams } from "../operation-methods.js";
import type { ToolTable } from "../tools.js";
import type { World } from "../world.js";
import type { Admission } from "./admission.js";
import type { Answer, Peer } from "./tcp-server.js";
import type { WorkerSeat } from "./worker-seat.js";

export interface HelloDeps {
  identity: Identity;
  editorSessionId: string;
  admission: Admission;
  ledger: Ledger;
  seat: WorkerSeat;
  tools: ToolTable;
  world: World;
  /** Reports every outcome that the worker has not acknowledged. */
  tellUnacknowledged(): void;
}

export function createHello(
  deps: HelloDeps,
  options: {
    heartbeatMs: number;
    foreignSilenceMs: number;
    logFile?: string | undefined;
    labels: readonly string[];
  },
) {
  const { admission, ledger, seat, world } = deps;
  let handedOver = false;
  /** The broker that said hello last, for people. */
  let owner: Pick<HelloParams, "brokerId" | "version"> | undefined;

  const foreign = (storeId: string): Answer | undefined => {
    const bound = ledger.boundStore();
    if (!bound || bound.storeId === storeId || handedOver) return undefined;
    const emptyMs = seat.emptyMs();
    const hasStopped = emptyMs !== undefined && emptyMs >= options.foreignSilenceMs;
    if (hasStopped && ledger.open().length === 0) return undefined;
    const message = "This Editor belongs to another broker's store. Hand it over, or stop that broker.";
    const connected = emptyMs === undefined;
    const data = { boundTo: bound.storeId, since: bound.since, connected, ...owner };
    return { error: { code: EDITOR_CODES.FOREIGN_BROKER, message, data } };
  };

  const fenced = (epoch: number, ownerNonce: string): Answer | undefined => {
    const highest = ledger.fence();
    if (!highest || epoch > highest.epoch) return undefined;
    if (epoch === highest.epoch && ownerNonce === highest.ownerNonce) return undefined;
    const message = `Epoch ${epoch} is not above ${highest.epoch}. Take a higher one and say hello again.`;
    return { error: { code: EDITOR_CODES.FENCED, message, data: { highestEpoch: highest.epoch } } };
  };

  /** Flushed before it is answered; the store that held the Editor is cut off. */
  const takeOver = ({ storeId, force = false }: HandOver): Answer => {
    const bound = ledger.boundStore();
    const open = ledger.open().map(({ operationId, state }) => ({ operationId, state }));
    const isOther = bound !== undefined && bound.storeId !== storeId;
    if (isOther && open.length > 0 && !force) {
      const message = `${open.length} operation(s) of the store that holds this Editor are open here.`;
      const data = { boundTo: bound.storeId, since: bound.since, open };
      return { error: { code: EDITOR_CODES.FOREIGN_BROKER, message, data } };
    }
    const fence = ledger.fence();
    if (isOther && fence) {
      try {
        ledger.takeFence(fence, storeId);
      } catch (error) {
        return unwritable(error);
      }
      owner = undefined;
      seat.vacate();
    }
    return { result: { boundTo: storeId, before: bound?.storeId ?? null, open: isOther ? open : [] } };
  };

  const enter = (peer: Peer, hello: HelloParams): Answer => {
    const { epoch, ownerNonce, storeId, brokerId, version, log = false } = hello;
    const refused = foreign(storeId) ?? fenced(epoch, ownerNonce);
    if (refused) return refused;
    const highest = ledger.fence();
    const isKnown = highest?.epoch === epoch && ledger.boundStore()?.storeId === storeId;
    if (!isKnown || !ledger.isSessionDurable()) {
      try {
        ledger.takeFence({ epoch, ownerNonce }, storeId);
      } catch (error) {
        return unwritable(error);
      }
    }
    handedOver = false;
    owner = { brokerId, version };
    seat.take(peer, { log });
    return { result: said(), afterwards: deps.tellUnacknowledged };
  };

  const said = () => {
    const previous = ledger.previousSession();
    return {
      protocol: PROTOCOL_VERSION,
      editorId: deps.identity.editorId,
      projectName: deps.identity.projectName,
      projectPath: deps.identity.projectPath,
      unityVersion: deps.identity.unityVersion,
      ...(options.labels.length === 0 ? {} : { labels: options.labels }),
      pid: process.pid,
      editorSessionId: deps.editorSessionId,
      generation: world.generation,
      assetCounter: world.assetCounter,
      ledgerId: ledger.ledgerId,
      ledgerSeq: ledger.ledgerSeq(),
      ...(previous ? { previousSession: previous } : {}),
      toolsHash: deps.tools.hash(),
      phase: world.phase,
      heartbeatSeconds: options.heartbeatMs / 1000,
      ...(options.logFile === undefined ? {} : { logFile: options.logFile }),
      open: ledger.open().map(({ operationId, state }) => ({ operationId, state })),
      unacknowledged: ledger.unacknowledged().map((operation) => operation.operationId),
    };
  };

  return {
    /** A person lets the next store take over this Editor. */
    handOver(): void {
      handedOver = true;
    },
    /** `bridge/hand_over`. */
    handOverTo(peer: Peer, params: unknown): Answer {
      const parsed = HandOverParams.safeParse(params);
      if (!parsed.success) return { ...badParams(parsed.error), close: true };
      return admission.challenge(peer, parsed.data.nonce, () => takeOver(parsed.data));
    },
    answer(peer: Peer, params: unknown): Answer {
      const parsed = HelloParams.safeParse(params);
      if (!parsed.success) return { ...badParams(parsed.error), close: true };
      return admission.challenge(peer, parsed.data.nonce, () => enter(peer, parsed.data));
    },
  };
}

function unwritable(error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error);
  return { error: { code: EDITOR_CODES.LEDGER_UNAVAILABLE, message } };
}
