/**
 * An Editor that lies. It proves that it holds its token, and is honest in everything but what its lie says; with
 * `plain` it is a uLoop bridge without a ledger.
 */

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { addressOf, newNonce, proofOf } from "../../../src/shared/wire/editor-proof.js";
import {
  createFrameParser,
  encodeFrame,
  parseRpc,
  type RpcId,
  rpcFailure,
  rpcNotification,
  rpcResult,
} from "../../../src/shared/wire/rpc.js";
import type { EndpointFile } from "../../../src/shared/wire/wire.js";
import { isLongForm } from "../long-form.js";

type Params = Record<string, unknown>;

/** One connection of a worker. */
export interface Wire {
  notify(method: string, params: unknown): void;
  reply(id: RpcId, result: unknown): void;
  /** As it is: JSON that no serialiser would write. */
  frame(text: string): void;
  raw(bytes: Buffer | string): void;
  /** Says it again and again for as long as the connection stands: as much as is read, a pause, and again. */
  flood(text: () => string): void;
  /** Ends it. */
  end(): void;
}

/** The inputs of a lie: the worker's request, the honest answer, and the connection. */
export interface Telling {
  params: Params;
  id: RpcId;
  honest: () => Params;
  wire: Wire;
  /** How often this method was called. */
  count: number;
}

/** It lives in the process that it floods. In the long form it floods as fast as is read. */
const FLOOD_PAUSE_MS = isLongForm ? 0 : 10;

export const SILENCE = Symbol("no answer");

export class Refusal extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message = "no", data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface Behaviour {
  /** By method; a tool of a plain bridge by `work`. SILENCE answers nothing. */
  methods?: Record<string, (telling: Telling) => unknown>;
  /** Behind the answer to hello, or to a plain worker's name. */
  onReady?(wire: Wire): void;
  plain?: boolean;
}

export interface HostileEditor {
  readonly editorId: string;
  readonly port: number;
  endpoint(): EndpointFile;
  /** How often a worker asked for this. */
  calls(method: string): number;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;

export async function startHostileEditor(
  { methods = {}, onReady, plain = false }: Behaviour,
  { heartbeatMs = 100, editorId = "liar@0bad" }: { heartbeatMs?: number; editorId?: string } = {},
): Promise<HostileEditor> {
  const token = newNonce();
  const sockets = new Set<Socket>();
  const counts = new Map<string, number>();
  const outcomes = new Map<string, Params>();
  let seq = 0;

  const serve = (socket: Socket): void => {
    const parser = createFrameParser(64 * MIB);
    let challenge = { workerNonce: "", editorNonce: "", address: "" };
    const write = (bytes: Buffer | string): boolean => !socket.destroyed && socket.write(bytes);
    const wire: Wire = {
      notify: (method, params) => void write(encodeFrame(rpcNotification(method, params))),
      reply: (id, result) => void write(encodeFrame(rpcResult(id, result))),
      frame: (text) => void write(encodeFrame(text)),
      raw: (bytes) => void write(bytes),
      flood(text) {
        const go = (): void => {
          while (!socket.destroyed) if (!write(encodeFrame(text()))) break;
          if (!socket.destroyed) socket.once("drain", () => setTimeout(go, FLOOD_PAUSE_MS));
        };
        go();
      },
      end: () => void socket.destroy(),
    };

    const honest = (method: string, params: Params): Params => {
      const operationId = String(params.operationId);
      seq += 1;
      switch (method) {
        case "bridge/hello": {
          if (plain) throw new Refusal(-32601, "Method not found");
          challenge = {
            workerNonce: String(params.nonce),
            editorNonce: newNonce(),
            address: addressOf(socket.localAddress ?? "", socket.localPort ?? 0),
          };
          return { nonce: challenge.editorNonce, proof: proofOf("editor", token, challenge) };
        }
        case "bridge/prove":
          return {
            ...{ protocol: 1, editorId, projectName: "Liar", projectPath: "/projects/liar" },
            ...{ unityVersion: "6000.0.1f1", pid: process.pid, editorSessionId: "s1", generation: 1 },
            ...{ assetCounter: 1, ledgerId: "l1", ledgerSeq: seq, toolsHash: "t", phase: "ready" },
            ...{ heartbeatSeconds: 1, open: [], unacknowledged: [] },
          };
        case "get-tool-details":
          return { Tools: ["work", "look"].map((name) => ({ name, description: "Lies.", annotations: {} })) };
        case "operation/submit": {
          const outcome = { status: "completed", result: { Done: "lie" }, startedAt: 1, endedAt: 2 };
          outcomes.set(operationId, outcome);
          setImmediate(() => {
            wire.notify("operation/running", { operationId, ledgerSeq: seq });
            wire.notify("operation/finished", { operationId, outcome, ledgerSeq: seq });
          });
          return { state: "accepted", ledgerSeq: seq };
        }
        case "operation/get": {
          const outcome = outcomes.get(operationId);
          return {
            state: outcome ? "completed" : "unknown",
            ...(outcome ? { outcome } : {}),
            ledgerSeq: seq,
          };
        }
        case "operation/list":
          return { operations: [], ledgerSeq: seq };
        case "operation/revoke":
          return { state: "revoked", ledgerSeq: seq };
        case "operation/cancel":
          return { state: "not_cancellable", ledgerSeq: seq };
        case "work":
          return { Done: "lie" };
        default:
          return {};
      }
    };

    const answer = (id: RpcId, method: string, params: Params): void => {
      const count = (counts.get(method) ?? 0) + 1;
      counts.set(method, count);
      try {
        const lie = methods[method];
        const truth = (): Params => honest(method, params);
        const said = lie ? lie({ params, id, honest: truth, wire, count }) : truth();
        if (said !== SILENCE) wire.reply(id, said);
      } catch (error) {
        const { code = -32603, message, data } = error as Refusal;
        write(encodeFrame(rpcFailure(id, { code, message, data })));
      }
      if (method === (plain ? "set-client-name" : "bridge/prove")) {
        const beat = setInterval(() => {
          if (!plain) wire.notify("bridge/heartbeat", HEARTBEAT);
        }, heartbeatMs);
        socket.once("close", () => clearInterval(beat));
        onReady?.(wire);
      }
    };

    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      parser.push(chunk);
      for (let frame = parser.next(); frame?.kind === "message"; frame = parser.next()) {
        const message = parseRpc(frame.text);
        if (message.kind === "request") answer(message.id, message.method, (message.params ?? {}) as Params);
      }
    });
  };

  const server = createServer({ noDelay: true }, serve);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    editorId,
    port,
    endpoint: () => ({
      ...{ editorId, projectName: "Liar", projectPath: "/projects/liar", unityVersion: "6000.0.1f1" },
      ...{ pid: process.pid, pidStartedAt: Date.now(), host: "127.0.0.1", port, token, phase: "ready" },
    }),
    calls: (method) => counts.get(method) ?? 0,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const HEARTBEAT = {
  ...{ editorSessionId: "s1", generation: 1, assetCounter: 1, phase: "ready" },
  ...{ mainThreadStallMs: 0, queued: 0, ledgerSeq: 1 },
};
