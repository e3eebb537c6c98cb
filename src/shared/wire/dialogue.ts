/** Requests and their answers on one JSON-RPC line, matched by id and in any order; no sockets, no clocks. */
import type { RpcError, RpcId } from "./rpc.js";

/** The peer answered a request with an error: the request arrived, was read and refused. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  readonly code: number;
  readonly data: unknown;

  constructor(error: RpcError) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
  }
}

export type RpcAnswer =
  | { kind: "result"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId; error: RpcError };

export interface Dialogue {
  /** Opens a request under an id never used before here; `answer` settles exactly once. */
  open(): { id: number; answer: Promise<unknown> };
  /** Settles the request of this answer; false if none is open under its id. */
  accept(answer: RpcAnswer): boolean;
  isOpen(id: RpcId): boolean;
  /** Gives up one request; does nothing if it is settled. */
  reject(id: RpcId, error: Error): void;
  /** Gives up every open request, each with its own error. */
  abandon(error: () => Error): void;
}

export function createDialogue(): Dialogue {
  const open = new Map<RpcId, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let lastId = 0;

  const take = (id: RpcId) => {
    const question = open.get(id);
    open.delete(id);
    return question;
  };

  return {
    open() {
      const id = ++lastId;
      const answer = new Promise<unknown>((resolve, reject) => open.set(id, { resolve, reject }));
      return { id, answer };
    },
    accept(answer) {
      const question = take(answer.id);
      if (!question) return false;
      if (answer.kind === "result") question.resolve(answer.result);
      else question.reject(new RpcFailure(answer.error));
      return true;
    },
    isOpen: (id) => open.has(id),
    reject(id, error) {
      take(id)?.reject(error);
    },
    abandon(error) {
      const questions = [...open.values()];
      open.clear();
      for (const question of questions) question.reject(error());
    },
  };
}
